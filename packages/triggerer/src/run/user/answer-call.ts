// What a running trigger asks for, answered from Postgres and the triggerer's environment. It reads XComs and sets none: its
// task has no worker, and the value comes with the event.
import { variableFromEnvironment } from "@millrace/shared/config";
import { deleteVariable, readVariable, readXComs, writeVariable, type Database } from "@millrace/shared/db";
import { findConnection } from "../connection.ts";
import type { Call, ToChild } from "./ipc.ts";

type Answer = Extract<ToChild, { type: "reply" }>["value"];

export async function answerCall(db: Database, call: Call): Promise<Answer> {
  switch (call.method) {
    case "getXCom": {
      const { dagId, runId, taskId, mapIndex, key } = call.params;
      const [row] = await db.run(readXComs, [[dagId], [runId], [taskId], [mapIndex], [key]]);
      return row?.value as Answer;
    }
    case "getVariable":
      return variableFromEnvironment(call.params.key) ?? (await db.run(readVariable, [call.params.key]))[0]?.val;
    case "setVariable":
      await db.run(writeVariable, [call.params.key, call.params.value, call.params.description ?? null]);
      return undefined;
    case "deleteVariable":
      await db.run(deleteVariable, [call.params.key]);
      return undefined;
    case "getConnection":
      return await findConnection(call.params.connectionId);
  }
}
