import { useState, type FormEvent, type ReactNode } from "react";
import { request } from "../http/client.ts";
import { safeNext } from "../router/match-route.ts";
import { useGo, useQuery } from "../router/router.tsx";
import { Problem } from "../shell/notices.tsx";

export function LoginPage(): ReactNode {
  const [target] = useQuery("next");
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const go = useGo();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    request("POST", "/ui/auth/login", {
      body: { username: fields.get("username"), password: fields.get("password") },
    }).then(
      () => go(safeNext(target), "replace"),
      (problem: Error) => {
        setBusy(false);
        setError(problem);
      },
    );
  };
  return (
    <main className="login">
      <form onSubmit={submit}>
        <h1 className="brand">
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M3 8c3-4 6 4 9 0s6 4 9 0M3 16c3-4 6 4 9 0s6 4 9 0" />
          </svg>
          Millrace
        </h1>
        <label htmlFor="username">User name</label>
        <input id="username" name="username" autoComplete="username" required autoFocus />
        <label htmlFor="password">Password</label>
        <input id="password" name="password" type="password" autoComplete="current-password" required />
        <Problem error={error} />
        <button type="submit" className="primary" disabled={busy}>
          Log in
        </button>
      </form>
    </main>
  );
}
