// Who may import whom. Read with ARCHITECTURE.md: each rule here is an arrow that is missing there.
// `@swc/core` reads the TypeScript; without it nothing is cruised and everything passes, hence the count that
// scripts/check/layering.mjs asserts.

const TEST = "\\.test\\.tsx?$|/fixtures/";
const SDK_TESTING = "^packages/sdk/src/testing/";
const DECIDERS = ["scheduler", "worker", "triggerer", "api"];

/** A rule for the folder `from`, with everything of ours it may import; tests are free to set up what they need. */
const only = (from, allowed, comment) => ({
  name: `${from}-imports`,
  comment,
  severity: "error",
  from: { path: `^packages/${from}/`, pathNot: TEST },
  to: { path: "^(packages|tests|examples|bench|scripts)/", pathNot: [`^packages/${from}/`, ...allowed] },
});

module.exports = {
  forbidden: [
    {
      name: "sdk-imports",
      comment: "People import the SDK; nothing of ours is beneath it. Its testing entry stands apart: see below.",
      severity: "error",
      from: { path: "^packages/sdk/", pathNot: [TEST, SDK_TESTING] },
      to: { path: "^(packages|tests|examples|bench|scripts)/", pathNot: ["^packages/sdk/"] },
    },
    {
      name: "sdk-testing-imports",
      comment: "The SDK's testing entry runs the production deciders, and knows nothing of databases and queues.",
      severity: "error",
      from: { path: SDK_TESTING, pathNot: TEST },
      to: {
        path: "^(packages|tests|examples|bench|scripts)/",
        pathNot: ["^packages/sdk/", "^packages/shared/src/(model|errors|params)/"],
      },
    },
    {
      name: "sdk-without-testing",
      comment: "What goes into the bundle of a DAG must not bring the testing entry, and the deciders, with it.",
      severity: "error",
      from: { path: "^packages/(sdk|shared)/", pathNot: [TEST, SDK_TESTING] },
      to: { path: SDK_TESTING },
    },
    only("shared", ["^packages/sdk/"], "The vocabulary knows the SDK's types and nobody else."),
    only("ui", ["^packages/api/src/types/"], "The UI talks HTTP; of the API it knows the types."),
    ...DECIDERS.map((name) =>
      only(
        name,
        ["^packages/(sdk|shared)/", ...(name === "api" ? ["^packages/ui/build/"] : [])],
        "Processes meet in Postgres and Redis, never in code.",
      ),
    ),
    only("cli", ["^packages/(sdk|shared|scheduler|worker|triggerer|api)/"], "The CLI starts the others."),
    only(
      "testkit",
      ["^packages/(sdk|shared)/", "^packages/cli/src/standalone/embedded-postgres"],
      "The testkit is below what it tests.",
    ),
    {
      name: "ui-types-only",
      comment: "An import of the API that survives compilation would put the server into the browser.",
      severity: "error",
      from: { path: "^packages/ui/", pathNot: TEST },
      to: { path: "^packages/api/" },
    },
    {
      name: "model-is-pure",
      comment: "Deciders take a snapshot and return commands: no I/O, no clock, no configuration.",
      severity: "error",
      from: { path: "^packages/shared/src/(model|errors)/", pathNot: TEST },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "model-imports",
      comment: "The model needs the SDK's types, timetable arithmetic and our errors, and no other room of shared.",
      severity: "error",
      from: { path: "^packages/shared/src/(model|errors)/", pathNot: TEST },
      to: {
        pathNot: [
          "^packages/shared/src/(model|errors)/",
          "^packages/sdk/",
          "^node_modules/(croner|temporal-polyfill|temporal-spec|temporal-utils)/",
        ],
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "one-door-to-redis",
      comment: "Queue and wakes are spoken of in our words everywhere but in shared/src/queue.",
      severity: "error",
      from: { path: "^(packages|examples)/", pathNot: ["^packages/shared/src/queue/", "^packages/testkit/", TEST] },
      to: { path: "^node_modules/(bullmq|ioredis)/" },
    },
    {
      name: "testkit-in-tests-only",
      comment: "The testkit is private and never shipped.",
      severity: "error",
      from: { pathNot: ["^(packages/testkit|tests|bench)/", TEST, "^vitest\\.config\\.ts$"] },
      to: { path: "^packages/testkit/" },
    },
    {
      name: "no-tests-in-sources",
      severity: "error",
      from: { pathNot: [TEST, "^tests/"] },
      to: { path: TEST },
    },
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unresolvable",
      comment:
        "Data files are the bundler's; it does not mind that a package names them in no export. So is the name of Airflow's SDK, which is resolved to ours.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "\\.csv$|^apache-airflow-ts-sdk$" },
    },
  ],
  options: {
    parser: "swc",
    doNotFollow: { path: "node_modules" },
    // Only our own build output: in node_modules, dist/ is what people import.
    exclude: { path: "^(packages/[^/]+|tests|examples|bench)/dist/" },
    // Type-only imports are arrows, too.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["source", "import", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".mjs", ".cjs", ".js", ".jsx", ".json"],
    },
  },
};
