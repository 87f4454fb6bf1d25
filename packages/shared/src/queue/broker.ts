// The door to the queue. Everything that passes it is a hint: a message names an attempt and its epoch, a wake says where
// to look, a stop signal says whom to ask. Postgres decides; losing all of it delays work and nothing else.
import type { Service } from "../lifecycle/index.ts";

export interface AttemptMessage {
  /** task_instance.id */
  readonly id: string;
  readonly epoch: number;
}

/** Something happened to a run: these of its tasks changed, or the whole of it is to be looked at. */
export interface Wake {
  /** Null: no run in particular; look for due and queued runs. */
  readonly dagRunId: number | null;
  readonly taskIds: readonly string[] | null;
}

export interface ConsumeOptions {
  readonly queues: readonly string[];
  /** Messages handled at once, over all queues. */
  readonly concurrency: number;
  /** Called once a delivery; a rejection is logged and the message is gone. */
  readonly handle: (message: AttemptMessage, queue: string) => Promise<void>;
}

export interface Consumer extends Service {
  /** How long ago the queue last answered a question for work, in ms; 0 while there is no place for more. */
  silentMs(): number;
  /** Takes no more, and waits for what is being handled. */
  pause(): Promise<void>;
}

export interface Broker {
  /** For people: the address without its password. */
  readonly target: string;
  /** @throws AppError BROKER_UNREACHABLE or BROKER_EVICTS. */
  check(): Promise<void>;
  /**
   * Puts messages into a queue, in their order. One that is there already stays as it is, unless it is sent `again`: the
   * worker that took the first may be dead, and its message held back until its lock has run out.
   */
  send(queue: string, messages: readonly AttemptMessage[], options?: { readonly again?: boolean }): Promise<void>;
  consume(options: ConsumeOptions): Consumer;
  /** Never rejects and never blocks: what cannot be said now is healed by the sweep. */
  wake(wakes: readonly Wake[]): void;
  /** Takes what was said since the last call; waits up to `timeoutMs` when there is nothing. */
  takeWakes(timeoutMs: number): Promise<readonly Wake[]>;
  /** Ends a wait of takeWakes now. */
  interruptTake(): void;
  /** Asks the workers that have these attempts to look at them at once. Never rejects. */
  signalAttempts(ids: readonly string[]): void;
  onSignal(listener: (ids: readonly string[]) => void): Promise<void>;
  /** Tells every triggerer that triggers came or went. Never rejects. */
  callTriggerers(): void;
  onTriggererCall(listener: () => void): Promise<void>;
  /** Called when the connection came back after it was lost: the queue may have been emptied meanwhile. */
  onReconnect(listener: () => void): void;
  close(): Promise<void>;
}

const COPIES = 4;
const COPY_MS = 20_000;

/**
 * The id makes a message unique by attempt and epoch; the claim takes one of them. One that is sent again has another id,
 * since the first may be held back for a dead worker; there are a few of those only, so that a queue which is merely long
 * does not grow with each sending.
 */
export const jobIdOf = (message: AttemptMessage, again = false): string =>
  `${message.id}_${message.epoch}${again ? `_${Math.floor(Date.now() / COPY_MS) % COPIES}` : ""}`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MAX_EPOCH = 2 ** 31 - 1;

/** Whoever can write to the broker can write anything: undefined when it names no attempt. */
export function readMessage(data: unknown): AttemptMessage | undefined {
  const { id, epoch } = (data ?? {}) as { id?: unknown; epoch?: unknown };
  if (typeof id !== "string" || !UUID.test(id)) return undefined;
  return typeof epoch === "number" && Number.isInteger(epoch) && epoch >= 0 && epoch <= MAX_EPOCH
    ? { id, epoch }
    : undefined;
}

/** What is no wake is left out: the sweep finds what it may have stood for. */
export const readWakes = (payload: unknown): Wake[] =>
  listOf(payload).flatMap((item): Wake[] => {
    const { dagRunId, taskIds } = (item ?? {}) as { dagRunId?: unknown; taskIds?: unknown };
    if (dagRunId === null) return [{ dagRunId, taskIds: null }];
    if (typeof dagRunId !== "number" || !Number.isSafeInteger(dagRunId)) return [];
    const isNaming = Array.isArray(taskIds) && taskIds.every((id) => typeof id === "string" && !id.includes("\0"));
    return [{ dagRunId, taskIds: isNaming ? (taskIds as string[]) : null }];
  });

export const readSignal = (payload: unknown): string[] =>
  listOf(payload).filter((id): id is string => typeof id === "string");

function listOf(payload: unknown): readonly unknown[] {
  try {
    const items: unknown = typeof payload === "string" ? JSON.parse(payload) : [];
    return Array.isArray(items) ? items : [];
  } catch {
    return [];
  }
}

/** BullMQ refuses ":" in a queue's name. */
export const bullQueueName = (queue: string): string => queue.replaceAll("%", "%25").replaceAll(":", "%3A");
