// Lines of fixed height in blocks that the browser skips while they are out of sight: find and copy still see all.
import { Fragment, memo, type ReactNode } from "react";
import type { LogLine } from "@millrace/api/types";
import { formatClock } from "../format/time.ts";
import type { LogWindow } from "./log-window.ts";

const BLOCK = 200;
const SHOWN_ELSEWHERE = new Set(["timestamp", "level", "logger", "event"]);

export function LogView({ window, loading }: { readonly window: LogWindow; readonly loading: boolean }): ReactNode {
  if (window.blocks.length === 0) return <p className="empty">{loading ? "Loading the log …" : "No lines yet."}</p>;
  return (
    <div className="log" tabIndex={0} role="log" aria-live="off" aria-label="Lines of the log">
      {window.cutBefore ? <p className="cut">Earlier lines are not shown.</p> : null}
      {window.blocks.map((block) => (
        <Fragment key={block.start}>
          {chunks(block.lines).map((lines, at) => (
            <LogBlock key={at} lines={lines} />
          ))}
        </Fragment>
      ))}
    </div>
  );
}

const LogBlock = memo(function LogBlock({ lines }: { readonly lines: readonly LogLine[] }): ReactNode {
  return (
    <ol className="block">
      {lines.map((line, at) => (
        <li key={at} className={`level-${levelOf(line)}`}>
          <span className="at">{line.timestamp === undefined ? "" : formatClock(line.timestamp)}</span>
          <span className="text">
            {line.event}
            {fieldsOf(line)}
          </span>
        </li>
      ))}
    </ol>
  );
});

const levelOf = (line: LogLine): string => {
  const level = line.level?.toLowerCase() ?? "";
  if (["error", "fatal", "critical"].includes(level) || line.logger === "task.stderr") return "error";
  if (["warn", "warning"].includes(level)) return "warn";
  return line.logger === "millrace" || level === "debug" ? "own" : "info";
};

/** What a line says beside its text: ` rows=7 table="orders"`. */
export function fieldsOf(line: LogLine): string {
  return Object.entries(line)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
    .join("");
}

function chunks(lines: readonly LogLine[]): LogLine[][] {
  const result: LogLine[][] = [];
  for (let at = 0; at < lines.length; at += BLOCK) result.push(lines.slice(at, at + BLOCK));
  return result;
}
