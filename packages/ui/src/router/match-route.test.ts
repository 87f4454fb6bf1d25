import { describe, expect, test } from "vitest";
import { dagPath, matchRoute, runPath, safeNext, taskPath } from "./match-route.ts";

describe("an address", () => {
  test.each(["a", "a/b", "x y", "%", "..", "é?#&"])("finds its way back: %j", (id) => {
    expect(matchRoute(dagPath(id))).toEqual({ page: "dag", dagId: id });
    expect(matchRoute(runPath(id, id))).toEqual({ page: "run", dagId: id, runId: id });
    const task = { page: "task", dagId: id, runId: id, taskId: id };
    expect(matchRoute(taskPath(id, id, id))).toEqual({ ...task, mapIndex: -1 });
    expect(matchRoute(taskPath(id, id, id, 3))).toEqual({ ...task, mapIndex: 3 });
  });

  test("that is none of ours is unknown", () => {
    expect(matchRoute("/")).toEqual({ page: "dags" });
    for (const path of [
      "/nope",
      "/dags/a/b",
      "/dags/a/runs",
      "/dags/a/runs/r/x",
      "/dags/a/runs/r/tasks/t/mapped/x",
      "/%",
    ]) {
      expect(matchRoute(path)).toEqual({ page: "unknown" });
    }
  });
});

test("after a login only a place of ours opens", () => {
  expect(safeNext("/dags/a?tab=source")).toBe("/dags/a?tab=source");
  for (const evil of [
    null,
    "",
    "//evil.test",
    "/\\evil.test",
    "https://evil.test",
    "javascript:alert(1)",
    "/login?next=/login",
  ]) {
    expect(safeNext(evil)).toBe("/dags");
  }
});
