import { expect, test } from "vitest";
import { FakeHost } from "../runtime/fake-host.ts";
import { encodeValue } from "../values/codec.ts";
import { render } from "./fixtures/render.ts";

async function renderWith(template: string, native = false): Promise<unknown> {
  const kept = encodeValue(value);
  const host = new FakeHost();
  host.xcoms.set("D/scheduled__2026-01-01T00:00:00+00:00/load/-1/return_value", kept);
  return await render(template, { inputs: { v: kept }, host, native });
}

const value = {
  at: new Date("2026-03-01T12:00:00Z"),
  map: new Map<unknown, unknown>([
    ["k", new Set([1, "b"])],
    [5, 2n],
  ]),
  big: 2n ** 70n,
  bytes: Buffer.from([0, 255]),
  odd: new Map([[{ a: 1 }, 1]]),
};

test.each([
  ["{{ v.at }} {{ v.at | ds }} {{ v.at.hour }}", "2026-03-01 12:00:00+00:00 2026-03-01 12"],
  ["{{ v.map }} {{ v.map.k | join('+') }}", "{'k': [1, 'b'], '5': 2} 1+b"],
  ["{{ v.big }}", "1180591620717411303424"],
  ["{{ v.bytes is defined }} {{ v.map | length }}", "True 2"],
  ["{{ v.bytes }}", "bytes cannot be written by a template: hand them on as base64"],
  ["{{ v }}", "bytes cannot be written by a template"],
  ["{{ v.odd }}", "a Map whose keys are no texts cannot be written by a template"],
])("%s is what the task handed on, as an input and as an XCom", async (template, expected) => {
  for (const source of ["inputs.v", "ti.xcom_pull('load', dag_id='D')"]) {
    expect(await renderWith(template.replaceAll(/\bv\b/g, source))).toContain(expected);
  }
});

test("a native value is data that can be stored", async () => {
  expect(await renderWith("{{ inputs.v.at }}", true)).toBe("2026-03-01T12:00:00+00:00");
  expect(await renderWith("{{ inputs.v.map }}", true)).toEqual({ k: [1, "b"], 5: 2 });
  expect(await renderWith("{{ inputs.v.bytes }}", true)).toContain("cannot be written");
});
