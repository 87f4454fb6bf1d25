// What a running trigger asks for, answered from Postgres and the places of secrets. It reads XComs and sets none: its
// task has no worker, and the value comes with the event.
import { readXComs, type Database } from "@millrace/shared/db";
import type { Secrets } from "@millrace/shared/secrets";
import type { XComs } from "@millrace/shared/xcoms";
import type { Call, ToChild } from "./ipc.ts";

type Answer = Extract<ToChild, { type: "reply" }>["value"];

export async function answerCall(db: Database, secrets: Secrets, xcoms: XComs, call: Call): Promise<Answer> {
  switch (call.method) {
    case "getXCom": {
      const { dagId, runId, taskId, mapIndex, key } = call.params;
      const [row] = await db.run(readXComs, [[dagId], [runId], [taskId], [mapIndex], [key]]);
      return row === undefined ? undefined : await xcoms.resolve(row.value);
    }
    case "getVariable":
      return await secrets.getVariable(call.params.key);
    case "setVariable":
      await secrets.setVariable(call.params.key, call.params.value, call.params.description);
      return undefined;
    case "deleteVariable":
      await secrets.stored.deleteVariable(call.params.key);
      return undefined;
    case "getConnection":
      return await secrets.getConnection(call.params.connectionId);
  }
}
