import type { ReactNode } from "react";
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
  const route = matchRoute(useAddress().path);
  if (route.page === "login") return <LoginPage />;
  return <Shell>{pageOf(route)}</Shell>;
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
