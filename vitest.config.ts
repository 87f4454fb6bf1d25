import { configDefaults, defineConfig } from "vitest/config";

// Tests of these folders need no services and must not wait for any. A file elsewhere that needs none is
// named *.unit.test.ts.
const UNIT = [
  "packages/sdk/src/**/*.test.ts",
  "packages/shared/src/{model,config,errors,lifecycle}/**/*.test.ts",
  "packages/ui/**/*.test.{ts,tsx}",
  "packages/**/*.unit.test.{ts,tsx}",
  "tests/**/*.unit.test.ts",
];
const ALL = ["packages/**/*.test.{ts,tsx}", "tests/**/*.test.ts", "examples/**/*.test.ts"];

const SOURCE = ["source", "node"];

export default defineConfig({
  test: {
    // As in Node: named imports of a CommonJS package that only a bundler could give fail here as well.
    deps: { interopDefault: false },
    pool: "forks",
    maxWorkers: 2,
    passWithNoTests: false,
    // A bound for what hangs, on a busy machine, not an expectation.
    testTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: UNIT },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: ALL,
          exclude: [...configDefaults.exclude, ...UNIT],
          globalSetup: "packages/testkit/src/global-setup.ts",
          hookTimeout: 120_000,
        },
      },
    ],
  },
  // Packages of this workspace resolve to their sources, as in `node --import …/register.mjs`. vitest hands these
  // conditions on to its forks, where `import` would also apply to require() and break CommonJS packages.
  resolve: { conditions: SOURCE },
  ssr: { resolve: { conditions: SOURCE, externalConditions: SOURCE } },
  // The global setup is loaded in this environment, which takes none of the above: without it the migrations of
  // dist/ would be tested, if it is there.
  environments: { __vitest__: { resolve: { conditions: SOURCE, externalConditions: SOURCE } } },
});
