// The image and the Compose file as somebody uses them: built, started, a run triggered, a worker killed, removed.
// On a machine without a container engine there is one test, which says so.
import { waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findEngine } from "./engine.ts";
import { COMPOSE_FILE, openStack, type Stack } from "./stack.ts";

const found = await findEngine();

if ("missing" in found) {
  console.log(`tests/containers: ${found.missing}; the image and deploy/compose.yaml were NOT tested here`);
  test(`nothing was built or started: ${found.missing}`, () => {
    expect(found.missing).not.toBe("");
  });
} else {
  const { engine } = found;
  let stack: Stack;

  beforeAll(async () => {
    stack = await openStack(engine);
  });
  afterAll(async () => {
    await stack?.remove();
  });

  describe("the Compose file", () => {
    test.each(["POSTGRES_PASSWORD", "MILLRACE_ADMIN_PASSWORD", "MILLRACE_JWT_SECRET"])(
      "refuses to start without %s",
      async (name) => {
        const all = { POSTGRES_PASSWORD: "a", MILLRACE_ADMIN_PASSWORD: "b", MILLRACE_JWT_SECRET: "c" };
        await expect(engine.compose(["-f", COMPOSE_FILE, "config"], { ...all, [name]: "" })).rejects.toThrow(name);
      },
    );

    test("brings every process up", async () => {
      await waitUntil(
        async () => {
          const { metadatabase, scheduler, triggerer, dag_processor } = await stack.get("/api/v2/monitor/health");
          const parts = [metadatabase, scheduler, triggerer, dag_processor] as { status: string }[]; // Airflow's shape
          return parts.every((part) => part.status === "healthy");
        },
        { what: "every process is healthy", timeoutMs: 60_000, intervalMs: 500 },
      );
      const schedulers = await stack.compose("ps", "-q", "scheduler");
      expect(schedulers.split("\n")).toHaveLength(2);
      await waitUntil(async () => (await healthOf("worker-heavy")) === "healthy", {
        what: "the health check of a worker passes",
        timeoutMs: 90_000,
        intervalMs: 1_000,
      });
    });

    test("runs hello, and shows its log through the API", async () => {
      await waitUntil(async () => await stack.get("/api/v2/dags/hello"), { what: "hello was read", timeoutMs: 60_000 });
      await stack.post("/api/v2/dags/hello/dagRuns", { dag_run_id: "mine", logical_date: null });
      expect(await stack.ended("hello", "mine")).toBe("success");
      const log = await stack.get("/api/v2/dags/hello/dagRuns/mine/taskInstances/say/logs/1");
      expect(JSON.stringify(log)).toContain("Hello from mine");
    });

    test("goes on after a worker was killed in the middle of a task, without using a retry", async () => {
      await waitUntil(async () => await stack.get("/api/v2/dags/slow"), { what: "slow was read", timeoutMs: 60_000 });
      await stack.post("/api/v2/dags/slow/dagRuns", { dag_run_id: "killed", logical_date: null });
      const work = "/api/v2/dags/slow/dagRuns/killed/taskInstances/work";
      await waitUntil(async () => (await stack.get(work))["state"] === "running", {
        what: "the task runs",
        timeoutMs: 30_000,
      });
      await stack.docker("kill", await containerOf("worker-default"));
      await stack.compose("up", "--detach", "--no-build", "worker-default");
      expect(await stack.ended("slow", "killed")).toBe("success");
      // One try more than was used by the task: the lost one was free.
      expect(await stack.get(work)).toMatchObject({ state: "success", try_number: 2, max_tries: 2 });
    });
  });

  describe("the image", () => {
    test("runs as nobody in particular, and holds no sources, tests or tools", async () => {
      const inside = async (script: string) =>
        await stack.docker("run", "--rm", "--entrypoint", "sh", "millrace:test", "-c", script);
      expect(await inside("id -un")).toBe("node");
      expect(await inside("ls /opt/millrace/packages/*/src 2>/dev/null | wc -l")).toBe("0");
      expect(await inside("find /opt/millrace/packages -name '*.test.*' | wc -l")).toBe("0");
      expect(await inside("ls /opt/millrace/node_modules | grep -cxE 'typescript|vitest|prettier' || true")).toBe("0");
      expect(await inside("ls /var/lib/millrace/dags")).toBe("branching.ts\nhello.ts\nretries-pools.ts");
      expect(await stack.docker("run", "--rm", "millrace:test", "version")).toMatch(/^\d+\.\d+\.\d+/);
    });
  });

  const containerOf = async (service: string): Promise<string> => await stack.compose("ps", "-q", service);

  const healthOf = async (service: string): Promise<string> =>
    await stack.docker("inspect", "--format", "{{.State.Health.Status}}", await containerOf(service));
}
