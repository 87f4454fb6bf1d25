// What a triggerer and the processes of user triggers say to each other: JSON messages by IPC and, from the child's watchdog
// thread, which speaks while the event loop is blocked, JSON lines in a pipe. The child has no other way out: no database, no
// broker, no configuration.
import type { ConnectionValue, TriggerOutcome, TriggerRunRequest, XComKey } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";

/** The child's file descriptor of the watchdog's pipe, after those of stdio and IPC. */
export const NOTICES_FD = 4;

/** In place of a trigger: the DAG file itself, while it is loaded. */
export const LOADING = -1;
/** In place of a trigger: nothing that has a name. */
export const NOBODY = 0;

export type ToChild =
  | { readonly type: "start"; readonly artifactPath: string; readonly request: TriggerRunRequest }
  | { readonly type: "abort"; readonly triggerId: number; readonly reason: string }
  | { readonly type: "reply"; readonly id: number; readonly value?: Json | ConnectionValue }
  | { readonly type: "refuse"; readonly id: number; readonly message: string };

export type FromChild =
  | { readonly type: "ready" }
  | LogLine
  /** A value that must not be read in a log from now on. */
  | { readonly type: "mask"; readonly secret: Json }
  | ({ readonly type: "call"; readonly id: number; readonly triggerId: number } & Call)
  | { readonly type: "outcome"; readonly triggerId: number; readonly outcome: TriggerOutcome };

export interface LogLine {
  readonly type: "log";
  /** NOBODY: not known. */
  readonly triggerId: number;
  readonly level: string;
  readonly logger: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, Json>>;
}

/** What a trigger asks its triggerer for. */
export type Call =
  | { readonly method: "getXCom"; readonly params: XComKey }
  | { readonly method: "getVariable"; readonly params: { readonly key: string } }
  | {
      readonly method: "setVariable";
      readonly params: { readonly key: string; readonly value: string; readonly description?: string };
    }
  | { readonly method: "deleteVariable"; readonly params: { readonly key: string } }
  | { readonly method: "getConnection"; readonly params: { readonly connectionId: string } };

export type Notice =
  /** The event loop has been blocked for a while, by this trigger above all. */
  | { readonly type: "slow"; readonly triggerId: number; readonly ms: number }
  /** It has been blocked for longer than it may. */
  | { readonly type: "blocked"; readonly triggerId: number; readonly ms: number }
  /** A trigger ended the process. */
  | { readonly type: "exit"; readonly triggerId: number; readonly code: number };
