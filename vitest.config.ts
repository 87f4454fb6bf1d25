import { defineConfig } from "vitest/config";

export default defineConfig({
  // Packages of this workspace resolve to their src/, exactly as `node --import …/register.mjs` does it.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source", "node", "module", "import", "default"], externalConditions: ["source", "node"] } },
  test: {
    include: ["packages/**/*.test.{ts,tsx}", "tests/**/*.test.ts", "examples/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    pool: "forks",
    maxWorkers: 2,
    passWithNoTests: false,
  },
});
