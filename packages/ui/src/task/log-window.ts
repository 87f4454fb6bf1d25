// What is kept of a log: blocks in the order of the file, the oldest dropped when there are too many. Pure.
import type { LogLine, LogPage } from "@millrace/api/types";

export interface LogWindow {
  readonly blocks: readonly { readonly start: number; readonly lines: readonly LogLine[] }[];
  /** Null: the end of a finished try is reached. */
  readonly token: string | null;
  readonly size: number;
  /** Something before the first block is not shown. */
  readonly cutBefore: boolean;
}

export const MAX_LINES = 20_000;
export const EMPTY_WINDOW: LogWindow = { blocks: [], token: "0", size: 0, cutBefore: false };

export function addPage(window: LogWindow, page: LogPage, maxLines = MAX_LINES): LogWindow {
  const blocks =
    page.content.length === 0 ? [...window.blocks] : [...window.blocks, { start: page.start, lines: page.content }];
  let lines = blocks.reduce((sum, block) => sum + block.lines.length, 0);
  while (blocks.length > 1 && lines > maxLines) lines -= blocks.shift()?.lines.length ?? 0;
  return {
    blocks,
    token: page.continuation_token,
    size: page.size,
    cutBefore: (blocks[0]?.start ?? 0) > 0,
  };
}

/** The server has more now, without waiting for the task to write. */
export const hasMore = (window: LogWindow): boolean => window.token !== null && Number(window.token) < window.size;
