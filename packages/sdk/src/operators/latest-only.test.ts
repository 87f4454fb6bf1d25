import { expect, it } from "vitest";
import { Dag } from "../index.ts";
import { createArtifact } from "../runtime/artifact.ts";
import { FakeHost, runRequest } from "../runtime/fake-host.ts";
import { registeredDags } from "../authoring/registry.ts";
import { latestOnly } from "./index.ts";

const dag = new Dag("latest");
const gate = dag.task("gate", latestOnly())();
gate.before(dag.task("next", () => 1)());
const artifact = createArtifact(registeredDags);

it.each([
  [true, { kind: "success", returnValue: true }],
  [undefined, { kind: "success", returnValue: true }],
  [false, { kind: "success", returnValue: false, branch: { kind: "follow", taskIds: [] } }],
])("latestOnly in a run of which isLatestRun is %s", async (isLatestRun, outcome) => {
  const request = runRequest("latest", "gate", isLatestRun === undefined ? {} : { isLatestRun });
  expect(await artifact.run(request, new FakeHost())).toEqual(outcome);
});
