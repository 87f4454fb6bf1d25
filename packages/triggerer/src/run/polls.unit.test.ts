import type { TriggerOutcome } from "@millrace/sdk/runtime";
import { fakeClock } from "@millrace/testkit";
import { expect, test } from "vitest";
import { Polls, type BatchKind, type SingleKind } from "./polls.ts";
import { GiveUp, type Fired, type LoadedTrigger } from "./trigger.ts";

const EVENT: TriggerOutcome = { kind: "event", payload: "seen" };

const wait = (id: number, kwargs: LoadedTrigger["kwargs"] = {}): LoadedTrigger => ({
  id,
  name: "kind",
  kwargs,
  createdMs: 0,
});

function batch(look: (ids: readonly number[]) => readonly (TriggerOutcome | undefined)[]): BatchKind<number> {
  return {
    name: "kind",
    read: (kwargs, { id }) => ({ wait: id, pollMs: kwargs.pollMs(10) }),
    lookAtAll: (ids) => Promise.resolve().then(() => look(ids)),
  };
}

function rig(kind: BatchKind<number> | SingleKind<number>) {
  const clock = fakeClock();
  const fired: Fired[] = [];
  const troubles: string[] = [];
  const polls = new Polls({
    kind,
    clock,
    fire: (some) => (fired.push(...some), Promise.resolve()),
    onTrouble: (id, message) => troubles.push(`${id} ${message}`),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, fired, troubles, polls, settle };
}

test("what is true already fires at once; the others are looked at together after their pause", async () => {
  const looks: number[][] = [];
  const { clock, fired, polls, settle } = rig(
    batch((ids) => (looks.push([...ids]), ids.map((id) => (id === 2 || looks.length > 1 ? EVENT : undefined)))),
  );
  polls.add([wait(1), wait(2), wait(3)]);
  await settle();
  expect(looks).toEqual([[1, 2, 3]]);
  expect([fired, polls.size]).toEqual([[{ triggerId: 2, outcome: EVENT }], 2]);
  await clock.advance(9_999);
  await settle();
  expect(looks).toHaveLength(1);
  await clock.advance(1);
  await settle();
  expect(looks[1]).toEqual([1, 3]);
  expect([fired.length, polls.size]).toEqual([3, 0]);
});

test("a look that fails is told once and followed by the next", async () => {
  let looks = 0;
  const { clock, fired, troubles, polls, settle } = rig(
    batch((ids) => {
      if (++looks < 3) throw new Error("no route");
      return ids.map(() => EVENT);
    }),
  );
  polls.add([wait(1, { pollSeconds: 1 })]);
  for (let i = 0; i < 3; i++) {
    await settle();
    await clock.advance(1_000);
  }
  await settle();
  expect(troubles).toEqual(["1 no route"]);
  expect(fired).toEqual([{ triggerId: 1, outcome: EVENT }]);
});

test("trouble that cannot pass, and arguments that are wrong, fail the trigger", async () => {
  const { fired, polls, settle } = rig(
    batch(() => {
      throw new GiveUp("ConnectionNotFound", "there is no connection x");
    }),
  );
  polls.add([wait(1), wait(2, { pollSeconds: "soon" })]);
  await settle();
  expect(fired.map(({ outcome }) => outcome)).toEqual([
    {
      kind: "failed",
      error: {
        name: "TriggerArguments",
        message: 'kind needs `pollSeconds` to be a number from 0.05 to 86400; it is "soon"',
      },
    },
    { kind: "failed", error: { name: "ConnectionNotFound", message: "there is no connection x" } },
  ]);
});

test("single looks are bounded, and a dropped one is aborted and says nothing", async () => {
  const open = new Map<number, (outcome: TriggerOutcome) => void>();
  const signals = new Map<number, AbortSignal>();
  const { fired, polls, settle } = rig({
    name: "kind",
    atOnce: 2,
    read: (kwargs, { id }) => ({ wait: id, pollMs: kwargs.pollMs(10) }),
    look: (id, signal) => (signals.set(id, signal), new Promise((resolve) => open.set(id, resolve))),
  });
  polls.add([wait(1), wait(2), wait(3)]);
  await settle();
  expect([...open.keys()]).toEqual([1, 2]);
  polls.drop([1]);
  expect(signals.get(1)?.aborted).toBe(true);
  open.get(1)?.(EVENT);
  open.get(2)?.(EVENT);
  await settle();
  expect(fired.map((one) => one.triggerId)).toEqual([2]);
  expect([...open.keys()]).toEqual([1, 2, 3]);
});
