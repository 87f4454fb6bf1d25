// `npm run test:containers`, apart from `npm test`: it builds an image, which takes minutes and needs an engine.
import { spawnSync } from "node:child_process";
import { defineConfig } from "vitest/config";

// Postgres and Redis, for the processes that the operator is tried with: only where there is something to try.
const hasEngine = spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0;
const SOURCE = ["source", "node"];

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.spec.ts"],
    passWithNoTests: false,
    testTimeout: 180_000,
    hookTimeout: 900_000,
    globalSetup: hasEngine ? ["../../packages/testkit/src/global-setup.ts"] : [],
  },
  resolve: { conditions: SOURCE },
  ssr: { resolve: { conditions: SOURCE, externalConditions: SOURCE } },
  environments: { __vitest__: { resolve: { conditions: SOURCE, externalConditions: SOURCE } } },
});
