// What a person writes beside a run.
import { AppError } from "../../errors/index.ts";
import type { Database } from "../database.ts";
import { getRun } from "../reads/runs.ts";
import { deleteRunNote, writeRunNote } from "../statements/run-notes.ts";
import { noteOperation } from "./note-operation.ts";

export interface NoteRunRequest {
  readonly dagId: string;
  readonly runId: string;
  /** Null, or nothing but blanks: none from now on. */
  readonly note: string | null;
  readonly user: string;
}

/** @throws AppError RUN_NOT_FOUND or REQUEST_INVALID */
export async function noteRun(db: Database, { dagId, runId, note, user }: NoteRunRequest): Promise<void> {
  if (note?.includes("\0") === true) {
    throw new AppError("REQUEST_INVALID", { cause: "the note holds a zero byte, which Postgres cannot store" });
  }
  const run = await getRun(db, dagId, runId);
  await db.transaction(
    async (tx) => {
      if (note === null || note.trim() === "") await tx.run(deleteRunNote, [run.id]);
      else await tx.run(writeRunNote, [run.id, note, user]);
      await noteOperation(tx, { event: "note run", dagId, runId, user }, []);
    },
    { actor: user },
  );
}
