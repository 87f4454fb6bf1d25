// The thirteen trigger rules in words about the states of the direct upstreams.
import type { TriggerRule } from "@millrace/sdk/spec";
import { ENDED, type State } from "./world.ts";

export type Verdict = "go" | "wait" | "skipped" | "upstream_failed";

export interface Upstream {
  readonly state: State;
  readonly isSetup: boolean;
}

export function judge(rule: TriggerRule, upstream: readonly Upstream[]): Verdict {
  if (upstream.length === 0) return "go";
  const any = (...states: State[]) => upstream.some((up) => states.includes(up.state));
  const all = (...states: State[]) => upstream.every((up) => states.includes(up.state));
  const over = all(...ENDED);
  const setups = upstream.filter((up) => up.isSetup);
  switch (rule) {
    case "always":
      return "go";
    case "all_success":
      if (any("failed", "upstream_failed")) return "upstream_failed";
      if (any("skipped")) return "skipped";
      return all("success") ? "go" : "wait";
    case "all_failed":
      if (any("success", "skipped")) return "skipped";
      return all("failed", "upstream_failed") ? "go" : "wait";
    case "all_done":
      return over ? "go" : "wait";
    case "all_skipped":
      if (any("success", "failed", "upstream_failed")) return "skipped";
      return all("skipped") ? "go" : "wait";
    case "one_success":
      if (any("success")) return "go";
      if (!over) return "wait";
      return all("skipped") ? "skipped" : "upstream_failed";
    case "one_failed":
      if (any("failed", "upstream_failed")) return "go";
      return over ? "skipped" : "wait";
    case "one_done":
      if (any("success", "failed")) return "go";
      return over ? "skipped" : "wait";
    case "none_failed":
      if (any("failed", "upstream_failed")) return "upstream_failed";
      return all("success", "skipped") ? "go" : "wait";
    case "none_failed_min_one_success":
      if (any("failed", "upstream_failed")) return "upstream_failed";
      if (all("skipped")) return "skipped";
      return all("success", "skipped") ? "go" : "wait";
    case "none_skipped":
      if (any("skipped")) return "skipped";
      return over ? "go" : "wait";
    case "all_done_setup_success":
      if (!over) return "wait";
      if (setups.length === 0 || setups.some((setup) => setup.state === "success")) return "go";
      return setups.every((setup) => setup.state === "skipped") ? "skipped" : "upstream_failed";
    case "all_done_min_one_success":
      if (any("skipped")) return "skipped";
      if (!over) return "wait";
      return any("success") ? "go" : "upstream_failed";
  }
}
