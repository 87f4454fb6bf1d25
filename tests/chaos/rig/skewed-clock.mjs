// Loaded into a process of the fleet before everything else: shifts its wall clock, and only that. A process reads the time
// of day through Date alone, and its monotonic clock, as on a host whose clock is set, goes on. The file that CHAOS_CLOCK
// names has the milliseconds; it is read again whenever it is written, so that the clock jumps under a living process.
// What the process starts keeps the right time: the handlers' own notes are compared with the database's clock.
import { readFileSync, watch } from "node:fs";

const file = process.env.CHAOS_CLOCK;
delete process.env.CHAOS_CLOCK;
delete process.env.NODE_OPTIONS;

if (file !== undefined) {
  const Real = Date;
  let skewMs = 0;
  const read = () => {
    skewMs = Number(readFileSync(file, "utf8"));
  };
  read();
  watch(file, read).unref();
  const now = () => Real.now() + skewMs;
  globalThis.Date = new Proxy(Real, {
    apply: () => new Real(now()).toString(),
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    get: (target, key, receiver) => (key === "now" ? now : Reflect.get(target, key, receiver)),
  });
}
