import { randomBytes } from "node:crypto";
import { uuidv7 } from "../model/index.ts";

/** The id of an attempt, a version, … Its time only makes ids sort; nothing is decided by it. */
export const newId = (): string => uuidv7(Date.now(), randomBytes(16));
