// A scheduler of a fault test: its loop as packages/scheduler/src/scheduler.ts has it, and with each tick what recovery
// does beside it. What would find nothing is not asked: it locks nothing, and most ticks are such.
import { handleLostAttempts, timeOutRuns } from "../engine/recovery.ts";
import type { RunRow } from "../engine/rows.ts";
import { addDueTasks, createDueRuns, schedulingPass } from "../engine/scheduling-pass.ts";
import type { Strand } from "./fibers.ts";
import type { Network } from "./network.ts";
import { allow, PAUSE, REDISPATCH_SECONDS, TICK, type Stage } from "./stage.ts";

export function* schedule(stage: Stage, network: Network, name: string): Strand {
  const { agenda, deps, driver, store } = stage;
  let named = new Map<RunRow, Set<string> | null>();
  let nextTick = 0;
  let nextResend = 0;
  for (;;) {
    try {
      const wait = nextTick - agenda.now;
      if (wait > 0 && named.size === 0 && !network.hasWakes && !network.hasRoom) yield wait;
      for (const { run, taskId } of network.takeWakes()) {
        const tasks = named.get(run);
        if (taskId === null) named.set(run, null);
        else if (tasks === undefined) named.set(run, new Set([taskId]));
        else tasks?.add(taskId);
      }
      const isTick = agenda.now >= nextTick;
      if (isTick) {
        nextTick = agenda.now + TICK;
        yield* recover(stage, network, name);
        if (agenda.now >= nextResend && store.occupying.size > 0) {
          nextResend = agenda.now + REDISPATCH_SECONDS * 1000;
          const again = yield* driver.transaction(name, (tx) => deps.s.redispatchAttempts(tx, REDISPATCH_SECONDS));
          for (const key of again) network.send(key);
        }
        if (store.dags.some(({ committed }) => committed.pointer !== undefined))
          yield* driver.transaction(name, (tx) => createDueRuns(tx, deps));
        if (store.delayed.size > 0) yield* driver.transaction(name, (tx) => addDueTasks(tx, named));
      }
      const startRuns = isTick || network.hasRoom;
      network.hasRoom = false;
      const request = { named, startRuns, isSweep: isTick };
      const outcome = yield* driver.transaction(name, (tx) => schedulingPass(tx, deps, request));
      named = new Map();
      for (const key of outcome.queued) network.send(key);
      for (const run of outcome.next) network.wake(run, null);
      if (outcome.finished.length > 0 || outcome.started > 0) network.hasRoom = true;
      if (outcome.finished.length > 0) yield* driver.transaction(name, (tx) => deps.s.pauseFailingDags(tx, store.dags));
    } catch (error) {
      allow(error);
      yield PAUSE / 2;
    }
  }
}

function* recover({ deps, driver, store }: Stage, network: Network, name: string): Strand {
  if (store.occupying.size > 0) {
    const lost = yield* driver.transaction(name, (tx) => handleLostAttempts(tx, deps));
    for (const row of lost) network.wake(row.run, row.taskId);
  }
  const hasTimeouts = store.dags.some((dag) => dag.graph.spec.dagrunTimeout !== undefined);
  if (hasTimeouts) yield* driver.transaction(name, (tx) => timeOutRuns(tx, deps));
}
