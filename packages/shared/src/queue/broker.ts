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

/** The id makes a message unique by attempt and epoch, and by sending when it is sent again; the claim takes one of them. */
export const jobIdOf = (message: AttemptMessage, again = false): string =>
  `${message.id}_${message.epoch}${again ? `_${Date.now().toString(36)}` : ""}`;

/** BullMQ refuses ":" in a queue's name. */
export const bullQueueName = (queue: string): string => queue.replaceAll("%", "%25").replaceAll(":", "%3A");
