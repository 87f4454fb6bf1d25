import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

const AT_ONCE = 5_000;
const NIL = "00000000-0000-0000-0000-000000000000";

export const rebuild = (io: Io): Command =>
  newCommand(io, "rebuild", {
    about:
      "Send every queued task instance to the broker again, after it was emptied or replaced. Safe at any time: a task instance is started once, however often it is sent.",
    examples: ["queue rebuild"],
  }).action(async () => {
    const [{ configOf }, { openDoors, closeDoors }, { rebuildQueue }, { createLogger }] = await Promise.all([
      import("../../process/config-of.ts"),
      import("../../process/open-doors.ts"),
      import("@millrace/shared/db"),
      import("@millrace/shared/observability"),
    ]);
    const config = configOf(io, {}, ["database.url", "broker.url"]);
    const doors = await openDoors(config, "cli", createLogger({ level: "silent", name: "cli" }));
    try {
      const sent = new Map<string, number>();
      for (let after = NIL; ;) {
        const page = await doors.db.run(rebuildQueue, [after, AT_ONCE]);
        for (const queue of new Set(page.map((attempt) => attempt.queue))) {
          const attempts = page.filter((attempt) => attempt.queue === queue);
          await doors.broker.send(queue, attempts, { again: true });
          sent.set(queue, (sent.get(queue) ?? 0) + attempts.length);
        }
        if (page.length < AT_ONCE) break;
        after = page.reduce((last, { id }) => (id > last ? id : last), after);
      }
      for (const [queue, count] of sent) io.out(`${queue}: ${count} sent\n`);
      if (sent.size === 0) io.out("nothing is queued\n");
    } finally {
      await closeDoors(doors);
    }
  });
