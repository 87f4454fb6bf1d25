import { useEffect, useRef, type ReactNode } from "react";
import { DagPage } from "./dag/dag-page.tsx";
import { DagsPage } from "./dags/dags-page.tsx";
import { LoginPage } from "./login/login-page.tsx";
import { matchRoute, type Route } from "./router/match-route.ts";
import { Link, RouterProvider, useAddress } from "./router/router.tsx";
import { RunPage } from "./run/run-page.tsx";
import { Shell } from "./shell/shell.tsx";
import { StateSprite } from "./states/state-sprite.tsx";
import { TaskPage } from "./task/task-page.tsx";

export function App(): ReactNode {
  return (
    <RouterProvider>
      <StateSprite />
      <CurrentPage />
    </RouterProvider>
  );
}

function CurrentPage(): ReactNode {
  const { path } = useAddress();
  const route = matchRoute(path);
  const title = titleOf(route);
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  // Whoever follows a link without seeing the page is at its beginning, as after any link.
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== path) document.getElementById("main")?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
  if (route.page === "login") return <LoginPage />;
  return <Shell>{pageOf(route)}</Shell>;
}

function titleOf(route: Route): string {
  switch (route.page) {
    case "dags":
      return "DAGs";
    case "dag":
      return route.dagId;
    case "run":
      return `${route.runId} · ${route.dagId}`;
    case "task":
      return `${route.taskId}${route.mapIndex < 0 ? "" : ` [${route.mapIndex}]`} · ${route.dagId}`;
    case "login":
      return "Log in";
    case "unknown":
      return "No such page";
  }
}

// The key makes another DAG or task a fresh page: nothing of the one before shines through while it loads.
function pageOf(route: Route): ReactNode {
  switch (route.page) {
    case "dags":
      return <DagsPage />;
    case "dag":
      return <DagPage key={route.dagId} dagId={route.dagId} />;
    case "run":
      return <RunPage key={`${route.dagId} ${route.runId}`} dagId={route.dagId} runId={route.runId} />;
    case "task":
      return <TaskPage key={`${route.dagId} ${route.runId} ${route.taskId} ${route.mapIndex}`} task={route} />;
    case "login":
    case "unknown":
      return (
        <section className="empty">
          <h1>There is no such page</h1>
          <p>
            The address may be old. <Link to="/dags">All DAGs</Link> are one step away.
          </p>
        </section>
      );
  }
}
