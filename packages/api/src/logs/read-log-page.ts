// A page of a log: whole lines from a byte offset, however long the log is. What is held in memory is one page.
import type { FileHandle } from "node:fs/promises";

export const PAGE_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface LogPageRequest {
  /** Byte offset, or `tail` for the last page. */
  readonly from: number | "tail";
  /** Nothing will be appended: an unfinished last line is all there will be of it. */
  readonly finished: boolean;
  /** @default 256 KiB */
  readonly maxBytes?: number;
}

export interface LogPageRead {
  readonly lines: readonly string[];
  readonly start: number;
  /** Where the next page begins. */
  readonly next: number;
  readonly size: number;
}

export async function readLogPage(file: FileHandle, request: LogPageRequest): Promise<LogPageRead> {
  const maxBytes = request.maxBytes ?? PAGE_BYTES;
  const { size } = await file.stat();
  const tail = request.from === "tail";
  const start = request.from === "tail" ? Math.max(0, size - maxBytes) : Math.min(request.from, size);
  const chunk = await readFully(file, start, Math.min(maxBytes, size - start));
  // The last page begins in the middle of some line; that line belongs to the page before.
  const begin = tail && start > 0 ? chunk.indexOf(NEWLINE) + 1 : 0;
  const lastNewline = chunk.lastIndexOf(NEWLINE);
  const atEnd = start + chunk.length >= size;
  let end = lastNewline + 1;
  // A line longer than a page comes in pieces; one that is still being written is left for later.
  if (end <= begin) end = chunk.length === maxBytes ? withoutHalfCharacter(chunk) : begin;
  if (atEnd && request.finished) end = chunk.length;
  const text = chunk.subarray(begin, end).toString("utf8");
  return {
    lines: text.split("\n").filter((line) => line !== ""),
    start: start + begin,
    next: start + end,
    size,
  };
}

/** UTF-8 is not cut within a character: continuation bytes are 10xxxxxx. */
function withoutHalfCharacter(chunk: Buffer): number {
  for (let end = chunk.length - 1; end > Math.max(0, chunk.length - 4); end--) {
    const byte = chunk[end] ?? 0;
    if (byte < 0x80) return end + 1;
    if (byte >= 0xc0) return end;
  }
  return chunk.length;
}

async function readFully(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
