import { newId } from "../db/index.ts";

/** Whose value it is. */
export interface XComOwner {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  /** Of the attempt. */
  readonly id: string;
}

const LONGEST = 100;

/** Letters that every server and every signature agree on; the names are for people, the ids make it the only one. */
const readable = (name: string): string => name.replace(/[^A-Za-z0-9._=-]/g, "_").slice(0, LONGEST);

/** New with each call: an attempt never writes over another's value, nor over its own of before. */
export const objectKey = (prefix: string, owner: XComOwner, key: string): string =>
  [
    ...(prefix === "" ? [] : [prefix]),
    ...[owner.dagId, owner.runId, owner.taskId].map(readable),
    String(owner.mapIndex),
    owner.id,
    `${readable(key)}-${newId()}.json`,
  ].join("/");
