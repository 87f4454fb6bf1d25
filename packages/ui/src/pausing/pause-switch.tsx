import type { ReactNode } from "react";

export function PauseSwitch(props: {
  readonly dagId: string;
  readonly isPaused: boolean;
  readonly onToggle: () => void;
}): ReactNode {
  const { dagId, isPaused, onToggle } = props;
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-checked={!isPaused}
      aria-label={`${dagId} runs on its schedule`}
      title={isPaused ? "Paused: no run starts by itself" : "Active: runs on its schedule"}
      onClick={onToggle}
    >
      <span />
    </button>
  );
}
