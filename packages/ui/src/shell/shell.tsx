import type { ReactNode } from "react";
import type { Health, Me } from "@millrace/api/types";
import { request } from "../http/client.ts";
import { useResource } from "../http/use-resource.ts";
import { useIsLost } from "../live/connection.ts";
import { Link, useGo } from "../router/router.tsx";
import { describeHealth } from "./describe-health.ts";

export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  const me = useResource<Me>("/ui/auth/me");
  const health = useResource<Health>("/api/v2/monitor/health");
  const go = useGo();
  const logOut = (): void => {
    void request("POST", "/ui/auth/logout").then(() => go("/login"));
  };
  return (
    <Frame user={me.data?.username} health={health.data} isLost={useIsLost()} onLogOut={logOut}>
      {children}
    </Frame>
  );
}

export function Frame(props: {
  readonly user: string | undefined;
  readonly health: Health | undefined;
  /** No changes reach the page. */
  readonly isLost?: boolean;
  readonly onLogOut: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const { tone, text } = describeHealth(props.health);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link to="/dags" className="brand">
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M3 8c3-4 6 4 9 0s6 4 9 0M3 16c3-4 6 4 9 0s6 4 9 0" />
          </svg>
          Millrace
        </Link>
        <nav aria-label="Main">
          <Link to="/dags">DAGs</Link>
        </nav>
        <span className="grow" />
        <span className={`health ${tone}`} role="status">
          {text}
        </span>
        {props.user === undefined ? null : (
          <span className="user">
            {props.user}
            <button type="button" className="plain" onClick={props.onLogOut}>
              Log out
            </button>
          </span>
        )}
      </header>
      <main id="main" tabIndex={-1}>
        {props.isLost === true ? (
          <p className="warning" role="status">
            No changes arrive: the server cannot be reached. What is shown may be old; the page goes on by itself as
            soon as it answers.
          </p>
        ) : null}
        {props.children}
      </main>
    </>
  );
}
