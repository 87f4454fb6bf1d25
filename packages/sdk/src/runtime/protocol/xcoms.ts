// Which XComs a handler reads or writes.

export interface XComKey {
  readonly key: string;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
}

export interface MappedXComsPage {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly offset: number;
  readonly limit: number;
}
