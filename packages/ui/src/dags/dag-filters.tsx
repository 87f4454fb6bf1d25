import { useEffect, useState, type ReactNode } from "react";
import { useQuery } from "../router/router.tsx";

const CHOICES = [
  ["", "All"],
  ["false", "Active"],
  ["true", "Paused"],
] as const;

export function DagFilters(): ReactNode {
  const [search, setSearch] = useQuery("search");
  const [paused, setPaused] = useQuery("paused");
  const [typed, setTyped] = useState(search);
  // Asks when typing pauses, not at each key.
  useEffect(() => {
    if (typed === search) return;
    const timer = setTimeout(() => setSearch(typed), 200);
    return () => clearTimeout(timer);
  }, [typed, search, setSearch]);
  return (
    <div className="filters">
      <label>
        <span className="hidden">Find DAGs by id</span>
        <input
          type="search"
          placeholder="Find DAGs by id"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <div className="choices" role="group" aria-label="Which DAGs">
        {CHOICES.map(([value, text]) => (
          <button key={text} type="button" aria-pressed={paused === value} onClick={() => setPaused(value)}>
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}
