import { loadConfig } from "@millrace/shared/config";
import { fakeClock } from "@millrace/testkit";
import { expect, test } from "vitest";
import { ChildPool, type Child } from "./child-pool.ts";

function poolOf(cores: number) {
  const clock = fakeClock();
  const spawned: Child[] = [];
  const spawn = (): Child => {
    let isGone = false;
    const child = {
      ready: Promise.resolve(),
      exited: new Promise<void>(() => undefined),
      get isGone() {
        return isGone;
      },
      isWornOut: () => false,
      kill: async () => void (isGone = true),
    } as Partial<Child> as Child; // nothing is run in it
    spawned.push(child);
    return child;
  };
  const config = loadConfig({ env: { MILLRACE__DATABASE__URL: "postgres://nobody@localhost/none" } });
  return { clock, spawned, pool: new ChildPool({ config, clock, cores, spawn }) };
}

/** What has come by now, as names of places in the order of asking. */
function ask(pool: ChildPool, times: number) {
  const given = new Map<number, Child>();
  for (let i = 0; i < times; i++) void pool.acquire().then((child) => given.set(i, child));
  return given;
}

const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test("while as many have only just begun as there are cores, the next waits for one of those children", async () => {
  const { pool, spawned } = poolOf(2);
  const given = ask(pool, 4);
  await settled();
  expect([...given.keys()]).toEqual([0, 1]);
  const [first, second] = spawned as [Child, Child];
  pool.release(first);
  pool.release(second);
  await settled();
  expect([given.get(2), given.get(3)]).toEqual([first, second]);
  expect(spawned).toHaveLength(2);
});

test("when none of them comes back for a while, all who wait go on at once", async () => {
  const { pool, spawned, clock } = poolOf(2);
  const given = ask(pool, 5);
  await settled();
  await clock.advance(4);
  pool.release(spawned[0] as Child);
  await settled();
  expect(given.size).toBe(3);
  await clock.advance(4);
  await settled();
  expect(given.size).toBe(3);
  await clock.advance(1);
  await settled();
  expect(given.size).toBe(5);
  expect(spawned).toHaveLength(4);
});

test("nobody waits for handlers that have gone on for long", async () => {
  const { pool, spawned, clock } = poolOf(2);
  ask(pool, 2);
  await settled();
  await clock.advance(5);
  const given = ask(pool, 1);
  await settled();
  expect(given.size).toBe(1);
  expect(spawned).toHaveLength(3);
});

test("who waits when the worker stops is told", async () => {
  const { pool } = poolOf(1);
  await pool.acquire();
  const told = pool.acquire().catch((error: unknown) => String(error));
  await settled();
  await pool.stop();
  expect(await told).toContain("the worker is stopping");
});
