// Where tasks that run in this process find what they ask for: the environment, and databases that it names.
import { MemoryStore } from "@millrace/sdk/testing";
import { connectionFromEnvironment, variableFromEnvironment } from "@millrace/shared/config";
import type { Io } from "../io/io.ts";

export const inProcessStore = (io: Io, maxBytes: number): MemoryStore =>
  new MemoryStore({
    variable: (key) => variableFromEnvironment(key, io.env),
    connection: (id) => connectionFromEnvironment(id, io.env),
    runSql: async (connection, request, signal) => {
      const { runSql } = await import("@millrace/shared/db");
      return await runSql(connection, request, { maxBytes, signal });
    },
  });
