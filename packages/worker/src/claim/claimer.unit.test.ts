import { createLogger } from "@millrace/shared/observability";
import { expect, test, vi } from "vitest";
import { scriptedDatabase } from "../fixtures/scripted-database.ts";
import { Claimer } from "./claimer.ts";

const quiet = createLogger({ level: "silent", name: "test" });
const message = { id: "019f0000-0000-7000-8000-000000000001", epoch: 3 };

test("a claim that was made and whose answer was lost is found by its token, and not made again", async () => {
  vi.useFakeTimers();
  let token: unknown;
  const { db, asked } = scriptedDatabase((name, params) => {
    if (name === "claim-attempts") {
      token = (params[2] as string[])[0];
      throw new Error("Connection terminated unexpectedly");
    }
    return (params[1] as string[])[0] === token ? [{ id: message.id, epoch: 4 }] : [];
  });
  const claimed = new Claimer(db, () => 7, quiet).claim(message);
  await vi.runAllTimersAsync();
  expect(await claimed).toEqual({ id: message.id, epoch: 4 });
  expect(asked).toEqual(["claim-attempts", "read-claims"]);
  vi.useRealTimers();
});
