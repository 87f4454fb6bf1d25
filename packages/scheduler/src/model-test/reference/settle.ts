// What follows by itself, without a worker or a user: runs start, tasks are sent on their way or end without running, and
// runs get their verdicts, until nothing follows any more.
import { judge, type Verdict } from "./rule.ts";
import { childrenOf, hasEnded, instanceOf, isAbove, type Instance, type Run, type Task, type World } from "./world.ts";

/** @param lookForDeadlocks whether runs in which nothing can ever go on fail now */
export function settle(world: World, lookForDeadlocks: boolean): void {
  while (oneRound(world, lookForDeadlocks)) continue;
  for (const run of world.runs) {
    for (const instance of run.instances.values()) if (instance.state === "scheduled") instance.state = "queued";
  }
}

function oneRound(world: World, lookForDeadlocks: boolean): boolean {
  let moved = startRuns(world);
  for (const run of world.runs) {
    if (run.state !== "running") continue;
    const movedHere = failFast(world, run) || decideTasks(world, run);
    if (!movedHere && [...run.instances.values()].every(hasEnded)) run.state = verdictOf(world, run);
    else if (!movedHere && lookForDeadlocks && isDeadlocked(world, run)) run.state = "failed";
    else if (!movedHere) continue;
    moved = true;
  }
  return moved;
}

function startRuns(world: World): boolean {
  let room = world.maxActiveRuns - world.runs.filter((run) => run.state === "running").length;
  let moved = false;
  for (const run of world.runs) {
    if (run.state !== "queued" || room <= 0 || !leadsSomewhere(world, run)) continue;
    run.state = "running";
    room--;
    moved = true;
  }
  return moved;
}

/** Something in it moves, or somebody has something of it, or nothing is left and its verdict can fall. */
function leadsSomewhere(world: World, run: Run): boolean {
  const open = [...run.instances.values()].filter((instance) => !hasEnded(instance));
  return open.length === 0 || open.some((instance) => !isIdle(instance) || fateOf(world, run, instance) !== "wait");
}

/** Nobody has it and nobody is about to. */
const isIdle = (instance: Instance): boolean => instance.state === "none" || instance.state === "up_for_retry";

function decideTasks(world: World, run: Run): boolean {
  let moved = false;
  for (const task of world.tasks) {
    const instance = instanceOf(run, task.id);
    if (!isIdle(instance)) continue;
    const fate = fateOf(world, run, instance);
    if (fate === "wait") continue;
    moved = true;
    if (fate !== "go") {
      instance.state = fate;
      continue;
    }
    instance.tries++;
    instance.state = task.kind === "empty" ? "success" : "scheduled";
  }
  return moved;
}

export function fateOf(world: World, run: Run, instance: Instance): Verdict {
  if (instance.state === "up_for_retry" && !instance.isDue) return "wait";
  const fate = fateInRun(world, run, instance.task);
  return fate === "go" && !pastAllows(world, run, instance.task, false) ? "wait" : fate;
}

function fateInRun(world: World, run: Run, task: Task): Verdict {
  if (isCutOff(world, run, task)) return "skipped";
  const setups = task.isTeardown ? [] : farSetups(world, task).map((setup) => instanceOf(run, setup.id).state);
  if (setups.some((state) => state === "failed" || state === "upstream_failed")) return "upstream_failed";
  if (setups.includes("skipped")) return "skipped";
  if (setups.some((state) => state !== "success")) return "wait";
  const upstream = task.upstream.map((id) => instanceOf(run, id));
  const verdict = judge(
    task.rule,
    upstream.map(({ state, task: { isSetup } }) => ({ state, isSetup })),
  );
  return verdict === "go" && task.isTeardown && isInUse(world, run, task) ? "wait" : verdict;
}

/** A branch above did not take it, or a short circuit above lets nothing through. */
function isCutOff(world: World, run: Run, task: Task): boolean {
  return world.tasks.some((other) => {
    const { state, choice } = instanceOf(run, other.id);
    if (state !== "success" || choice === undefined) return false;
    if (other.kind === "short_circuit" && task.isTeardown) return false;
    if (choice === "cut") return isAbove(world, other.id, task.id);
    return task.upstream.includes(other.id) && !choice.includes(task.id);
  });
}

/** Setups above, not directly, that nothing tears down or that are torn down only below this task. */
function farSetups(world: World, task: Task): Task[] {
  return world.tasks.filter((setup) => {
    if (!setup.isSetup || task.upstream.includes(setup.id) || !isAbove(world, setup.id, task.id)) return false;
    const teardowns = childrenOf(world, setup.id).filter((child) => child.isTeardown);
    return teardowns.length === 0 || teardowns.some((teardown) => isAbove(world, task.id, teardown.id));
  });
}

/** Something between its setups and it, at any distance, has not ended. */
const isInUse = (world: World, run: Run, teardown: Task): boolean =>
  world.tasks.some(
    (user) =>
      isAbove(world, user.id, teardown.id) &&
      teardown.upstream.some((id) => instanceOf(run, id).task.isSetup && isAbove(world, id, user.id)) &&
      !hasEnded(instanceOf(run, user.id)),
  );

/** @param hopefully takes for granted that what the run before still has to do goes well */
function pastAllows(world: World, run: Run, task: Task, hopefully: boolean): boolean {
  const before = world.runs[world.runs.indexOf(run) - 1];
  if (before === undefined || !(task.needsPast || task.needsPastDownstream)) return true;
  const hope = hopefully && (before.state === "queued" || before.state === "running");
  const wanted = [task.id, ...(task.needsPastDownstream ? childrenOf(world, task.id).map((child) => child.id) : [])];
  return wanted.every((id) => {
    const instance = instanceOf(before, id);
    return instance.state === "success" || instance.state === "skipped" || (hope && !hasEnded(instance));
  });
}

function failFast(world: World, run: Run): boolean {
  if (!world.failFast || !run.hasNewFailure) return false;
  run.hasNewFailure = false;
  for (const instance of run.instances.values()) {
    if (instance.task.isTeardown || hasEnded(instance)) continue;
    if (instance.state === "running") {
      instance.state = "shutdown";
      instance.mark = "failed";
    } else if (instance.state !== "restarting" && instance.state !== "shutdown") {
      instance.state = "skipped";
    }
  }
  return true;
}

/** By the tasks after which nothing comes that counts; a teardown counts only if it is said to. */
function verdictOf(world: World, run: Run): "success" | "failed" {
  const counts = (task: Task) => !task.isTeardown || task.failsRun;
  let last = world.tasks.filter((task) => counts(task) && !childrenOf(world, task.id).some(counts));
  if (last.length === 0) last = world.tasks.filter((task) => childrenOf(world, task.id).length === 0);
  const isBad = ({ id }: Task) => ["failed", "upstream_failed"].includes(instanceOf(run, id).state);
  return last.some(isBad) ? "failed" : "success";
}

export function isDeadlocked(world: World, run: Run): boolean {
  const open = [...run.instances.values()].filter((instance) => !hasEnded(instance));
  const canEverGo = (instance: Instance): boolean => {
    if (!isIdle(instance)) return true;
    const fate = fateInRun(world, run, instance.task);
    return fate === "go" ? pastAllows(world, run, instance.task, true) : fate !== "wait";
  };
  return run.state === "running" && open.length > 0 && !open.some(canEverGo);
}
