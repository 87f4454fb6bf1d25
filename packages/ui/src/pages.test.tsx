// Each page as a browser would first see it, made on the server: with data, without, and while it loads.
import { renderToStaticMarkup } from "react-dom/server";
import type { ReactNode } from "react";
import { describe, expect, test, vi } from "vitest";
import { App } from "./app.tsx";
import { DagGrid } from "./dag/dag-grid.tsx";
import { DagHead, DagPage } from "./dag/dag-page.tsx";
import { SourceView } from "./dag/source-view.tsx";
import { DagList } from "./dags/dag-list.tsx";
import { DagsPage } from "./dags/dags-page.tsx";
import { ImportErrors } from "./dags/import-errors.tsx";
import { dag, grid, line, preview, run, task } from "./fixtures/samples.ts";
import { LoginPage } from "./login/login-page.tsx";
import { UnpauseQuestion } from "./pausing/unpause-dialog.tsx";
import { PreviewView } from "./preview/preview-view.tsx";
import { StaticRouter } from "./router/router.tsx";
import { RunHead, RunPage } from "./run/run-page.tsx";
import { TaskList } from "./run/task-list.tsx";
import { Frame } from "./shell/shell.tsx";
import { LogView } from "./task/log-view.tsx";
import { EMPTY_WINDOW } from "./task/log-window.ts";
import { TaskHead, TaskPage } from "./task/task-page.tsx";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const ignore = (): void => undefined;
const html = (page: ReactNode, at = "/dags"): string =>
  renderToStaticMarkup(<StaticRouter at={at}>{page}</StaticRouter>);

describe("pages without data yet", () => {
  test.each([
    ["/dags", <DagsPage key="1" />, "Loading DAGs"],
    ["/dags/orders", <DagPage key="2" dagId="orders" />, "Loading runs"],
    ["/dags/orders?tab=source", <DagPage key="3" dagId="orders" />, "Loading the source"],
    ["/dags/orders?tab=preview", <DagPage key="7" dagId="orders" />, "Loading the coming runs"],
    ["/dags/orders/runs/r", <RunPage key="4" dagId="orders" runId="r" />, "Loading the run"],
    [
      "/dags/orders/runs/r/tasks/t",
      <TaskPage key="5" task={{ page: "task", dagId: "orders", runId: "r", taskId: "t", mapIndex: -1 }} />,
      "Loading the task",
    ],
    ["/login", <LoginPage key="6" />, "Password"],
  ])("%s says what it waits for", (at, page, text) => {
    expect(html(page, at)).toContain(text);
  });

  test("the whole application opens at any address", () => {
    vi.stubGlobal("window", { location: { href: "http://here/nowhere" } });
    expect(renderToStaticMarkup(<App />)).toContain("There is no such page");
    vi.unstubAllGlobals();
  });
});

describe("the source of a DAG", () => {
  const version = (number: number, commit: string | null) => ({
    id: `v${number}`,
    version_number: number,
    dag_id: "orders",
    bundle_name: "dags-folder",
    bundle_version: commit,
    bundle_url: null,
    created_at: "2026-11-02T10:00:00.000Z",
    dag_display_name: "orders",
  });
  const source = { content: "const a = 1;\n", dag_id: "orders", version_number: 1, dag_display_name: "orders" };

  test("can be looked at for each version, which is named with its commit", () => {
    const versions = [version(2, "0123456789abcdef"), version(1, null)];
    const page = html(<SourceView source={source} versions={versions} onChoose={ignore} />);
    expect(page).toContain("2 · 2026-11-02 10:00 · 0123456789ab");
    expect(page).toContain("as its runs have it; those from now on have a newer one");
    const only = html(<SourceView source={source} versions={[version(1, null)]} onChoose={ignore} />);
    expect(only).toContain("Version 1, as the runs from now on have it");
    expect(only).not.toContain("<select");
  });
});

describe("the DAG list", () => {
  test("shows a DAG with its switch, marks in words and links, and its next run", () => {
    const page = html(<DagList dags={[line]} now={NOW} filtered={false} onPause={ignore} />);
    expect(page).toContain('role="switch"');
    expect(page).toContain('aria-checked="true"');
    expect(page).toContain('href="/dags/orders/runs/run%202"');
    expect(page).toMatch(/aria-label="Run run 2: failed, 2 Nov 2026/);
    expect(page).toContain("in 17 hours");
  });

  test("shows texts of users as text", () => {
    const page = html(<DagList dags={[line]} now={NOW} filtered={false} onPause={ignore} />);
    expect(page).toContain("&lt;b&gt;Orders&lt;/b&gt;");
  });

  test("that is empty says what to do", () => {
    expect(html(<DagList dags={[]} now={NOW} filtered={false} onPause={ignore} />)).toContain("No DAGs yet");
    expect(html(<DagList dags={[]} now={NOW} filtered onPause={ignore} />)).toContain("No DAG matches");
  });

  test("names file and line of an error", () => {
    const error = {
      import_error_id: 1,
      timestamp: "",
      filename: "bad.ts",
      bundle_name: null,
      stack_trace: "Error: no\n at /x/bad.ts:3:7",
    };
    const page = html(<ImportErrors errors={[error]} />);
    expect(page).toContain("bad.ts:3:7");
    expect(page).toContain("One file could not be read");
    expect(html(<ImportErrors errors={[]} />)).toBe("");
  });
});

describe("a DAG", () => {
  test("has a head with its facts", () => {
    const page = html(<DagHead dag={dag} dagId="orders" now={NOW} onPause={ignore} onTrigger={ignore} />);
    for (const text of ["orders.ts", "0 6 * * *", "ada", "Trigger a run"]) expect(page).toContain(text);
    const byHand = { ...dag, timetable_summary: "None" };
    expect(html(<DagHead dag={byHand} dagId="orders" now={NOW} onPause={ignore} onTrigger={ignore} />)).toContain(
      "by hand",
    );
  });

  test("has a grid in the order of its tasks with one tab stop", () => {
    const page = html(<DagGrid grid={grid} now={NOW} />);
    expect(page.indexOf(">extract<")).toBeLessThan(page.indexOf(">load<"));
    expect(page).toContain("load: 3 failed, 7 success");
    expect(page.match(/tabindex="0"/g)).toHaveLength(1);
    expect(html(<DagGrid grid={{ ...grid, runs: [] }} now={NOW} />)).toContain("No runs yet");
  });

  test("shows its coming runs in local time and in UTC, with what clocks do to them", () => {
    const page = html(<PreviewView preview={preview} now={NOW} />);
    for (const text of ["Starts, Europe/Berlin", "2026-03-29 03:30", "+02:00", "2026-03-29 01:30", "due"]) {
      expect(page).toContain(text);
    }
    expect(page).toContain("2026-03-28 02:30 → 2026-03-29 03:30");
    expect(page).toContain("02:30 does not exist on this day: runs at 03:30");
    expect(page).toContain("in 14 hours");
    expect(page).toMatch(/class="quiet"[^>]*>.*there is a run for this interval already/);
    expect(page).toContain("2,189 more are not shown");
  });

  test("shows them once where the local time is UTC", () => {
    const page = html(<PreviewView preview={{ ...preview, timezone: "UTC" }} now={NOW} />);
    expect(page.match(/Starts, UTC/g)).toHaveLength(1);
    expect(page).toContain("in 14 hours");
  });

  test("warns of many runs at once, and of few says nothing", () => {
    const page = html(<PreviewView preview={preview} now={NOW} />);
    expect(page).toContain("2,184 runs are due at once, because the DAG catches up on all it missed");
    expect(page).toContain("At most 16 of them");
    expect(html(<PreviewView preview={{ ...preview, due: 1 }} now={NOW} />)).not.toContain("are due at once");
  });

  test("asks before it is unpaused, with what comes of it or why that cannot be said", () => {
    const ask = (shown: typeof preview | undefined, error?: Error) =>
      html(<UnpauseQuestion dagId="orders" preview={shown} error={error} now={NOW} />);
    expect(ask(preview)).toContain("Unpausing orders now creates 2,191 runs");
    expect(ask(undefined)).toContain("Loading what comes of it");
    expect(ask(undefined, new Error("its file has an error"))).toContain("cannot be said: its file has an error");
  });

  test("has a source", () => {
    const source = { content: "one\ntwo\n", dag_id: "orders", version_number: 3, dag_display_name: "orders" };
    expect(html(<SourceView source={source} versions={[]} onChoose={ignore} />).match(/class="line"/g)).toHaveLength(2);
  });
});

describe("a run and a task", () => {
  test("show states, tries, durations and conf", () => {
    expect(html(<RunHead run={run} now={NOW} />)).toContain("1 min 40 s");
    const list = html(<TaskList run={run} tasks={[task]} order={grid.nodes} now={NOW} />);
    for (const text of ["2 of 3", "10.0 s", "failed", 'x="10"']) expect(list).toContain(text);
    const head = html(<TaskHead ti={task} tries={[{ ...task, try_number: 1 }, task]} now={NOW} onChoose={ignore} />);
    expect(head).toContain('aria-label="Tries"');
    expect(head).toMatch(/aria-pressed="true"[^>]*>.*Try.*2/);
  });

  test("show a log with its fields, and say when there is none", () => {
    const lines = [{ timestamp: "2026-11-02T05:00:10.000Z", level: "error", event: "<script>", rows: 7 }];
    const page = html(<LogView window={{ ...EMPTY_WINDOW, blocks: [{ start: 0, lines }] }} loading={false} />);
    expect(page).toContain("&lt;script&gt; rows=7");
    expect(page).toContain("level-error");
    expect(html(<LogView window={EMPTY_WINDOW} loading={false} />)).toContain("No lines yet");
  });
});

test("the frame tells which process is missing", () => {
  const health = {
    metadatabase: { status: "healthy" as const },
    scheduler: { status: "unhealthy" as const, latest_scheduler_heartbeat: null },
    triggerer: { status: null, latest_triggerer_heartbeat: null },
    dag_processor: { status: "healthy" as const, latest_dag_processor_heartbeat: null },
  };
  const page = html(
    <Frame user="ada" health={health} onLogOut={ignore}>
      content
    </Frame>,
  );
  for (const text of ["Scheduler not running", "ada", "Log out", "content", "Skip to the content"]) {
    expect(page).toContain(text);
  }
});
