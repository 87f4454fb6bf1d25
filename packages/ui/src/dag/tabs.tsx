import type { ReactNode } from "react";

export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly (readonly [value: string, text: string])[];
  readonly chosen: string;
  readonly onChoose: (value: string) => void;
}): ReactNode {
  return (
    <div className="tabs" role="group" aria-label={props.label}>
      {props.tabs.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={props.chosen === value} onClick={() => props.onChoose(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}
