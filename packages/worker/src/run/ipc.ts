// What a worker and its child processes say to each other, one JSON message at a time. The child has no other way out:
// no database, no broker, no configuration.
import type {
  AssetEventData,
  AssetEventsQuery,
  AssetQuery,
  CallbackOutcome,
  CallbackRequest,
  ConnectionValue,
  ExternalState,
  ExternalStatesQuery,
  MappedXComsPage,
  PreviousRun,
  RenderOutcome,
  RunRequest,
  SqlRequest,
  SqlResult,
  TaskOutcome,
  TriggerDagRunRequest,
  TriggeredDagRun,
  XComKey,
} from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";

export type ToChild =
  | { readonly type: "run"; readonly artifactPath: string; readonly request: RunRequest }
  | { readonly type: "callback"; readonly artifactPath: string; readonly request: CallbackRequest }
  | { readonly type: "render"; readonly artifactPath: string; readonly request: RunRequest }
  /** `name` tells a timeout from every other stop. */
  | { readonly type: "abort"; readonly reason: string; readonly name: "TaskTimeout" | "TaskStopped" }
  | {
      readonly type: "reply";
      readonly id: number;
      readonly value?:
        | Json
        | ConnectionValue
        | TriggeredDagRun
        | readonly ExternalState[]
        | readonly AssetEventData[]
        | PreviousRun
        | readonly SqlResult[];
    }
  | { readonly type: "refuse"; readonly id: number; readonly message: string };

export type FromChild =
  | { readonly type: "ready" }
  | {
      readonly type: "log";
      readonly level: string;
      readonly logger: string;
      readonly message: string;
      readonly fields?: Readonly<Record<string, Json>>;
    }
  /** A value that must not be read in a log from now on. */
  | { readonly type: "mask"; readonly secret: Json }
  /** A process group that the handler started: it ends with the child, whatever ends that. */
  | { readonly type: "group"; readonly pid: number; readonly what: "started" | "ended" }
  | ({ readonly type: "call"; readonly id: number } & Call)
  /** Of the attempt or of the callback, whichever was given last. */
  | {
      readonly type: "outcome";
      readonly outcome: TaskOutcome | CallbackOutcome | RenderOutcome;
      readonly rssBytes: number;
    };

/** What a handler asks its worker for. */
export type Call =
  | { readonly method: "getXCom"; readonly params: XComKey }
  | { readonly method: "setXCom"; readonly params: XComKey & { readonly value: Json } }
  | { readonly method: "getMappedXComs"; readonly params: MappedXComsPage }
  | { readonly method: "getVariable"; readonly params: { readonly key: string } }
  | {
      readonly method: "setVariable";
      readonly params: { readonly key: string; readonly value: string; readonly description?: string };
    }
  | { readonly method: "deleteVariable"; readonly params: { readonly key: string } }
  | { readonly method: "triggerDagRun"; readonly params: TriggerDagRunRequest }
  | { readonly method: "getRunState"; readonly params: { readonly dagId: string; readonly runId: string } }
  | { readonly method: "getExternalStates"; readonly params: ExternalStatesQuery }
  | { readonly method: "getAssetEvents"; readonly params: AssetEventsQuery }
  | { readonly method: "getAssetState" | "deleteAssetState"; readonly params: AssetStateKey }
  | { readonly method: "setAssetState"; readonly params: AssetStateKey & { readonly value: Json } }
  | { readonly method: "setMapIndexLabel"; readonly params: { readonly label: string } }
  | { readonly method: "setRenderedFields"; readonly params: { readonly fields: Readonly<Record<string, Json>> } }
  | { readonly method: "getPreviousSuccess"; readonly params: Readonly<Record<string, never>> }
  | { readonly method: "runSql"; readonly params: SqlRequest }
  | { readonly method: "getConnection"; readonly params: { readonly connectionId: string } };

/** Which state of which asset. */
export interface AssetStateKey {
  readonly asset: AssetQuery;
  readonly key: string;
}
