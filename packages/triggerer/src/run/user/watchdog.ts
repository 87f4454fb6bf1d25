// The thread inside a child that watches its event loop. It shares two cells with the loop: a count that rises while the loop
// turns, and the trigger whose code runs at this moment. When the count stands still it notes whom it sees there: the one it
// saw most is the culprit. Its own clock counts, and no step of it for more than it sleeps, so that a machine that stands
// still blames nobody. It also ends the child when the triggerer is gone.
export const WATCH_EVERY_MS = 20;

/** Blame without a name is given late: it may be the garbage collector, or a busy machine. */
const NAMELESS_FACTOR = 5;

/** The text of a CommonJS program for `new Worker(…, { eval: true })`. Its workerData: cells, warnMs, maxMs, fd. */
export const WATCHDOG = `
const { parentPort, workerData } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const { cells, warnMs, maxMs, fd } = workerData;
const parent = process.ppid;
let turn = -1, blockedMs = 0, last = performance.now(), warned = false, told = false;
let seen = new Map();
const say = (notice) => { try { writeSync(fd, JSON.stringify(notice) + "\\n"); } catch {} };
const culprit = () => {
  let most = 0, ms = 0;
  for (const [owner, its] of seen) if (owner !== 0 && its > ms) [most, ms] = [owner, its];
  return ms * 2 >= blockedMs ? most : 0;
};
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  const now = performance.now();
  const step = Math.min(now - last, ${2 * WATCH_EVERY_MS});
  last = now;
  const current = Atomics.load(cells, 0);
  if (current !== turn) {
    turn = current; blockedMs = 0; seen = new Map(); warned = told = false;
    return;
  }
  blockedMs += step;
  const owner = Atomics.load(cells, 1);
  seen.set(owner, (seen.get(owner) ?? 0) + step);
  if (told || blockedMs < warnMs) return;
  const who = culprit();
  // While it blocks: afterwards its end could come first.
  if (!warned && who > 0) {
    warned = true;
    say({ type: "slow", triggerId: who, ms: Math.round(blockedMs) });
  }
  if (blockedMs < maxMs) return;
  if (who === 0 && blockedMs < ${NAMELESS_FACTOR} * maxMs) return;
  told = true;
  say({ type: "blocked", triggerId: who, ms: Math.round(blockedMs) });
}, ${WATCH_EVERY_MS});
parentPort.postMessage("watching");`;
