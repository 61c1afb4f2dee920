import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { GROUP } from "../restore/kinds.ts";
import { manifest, openScene } from "../restore/scene.ts";
import { bothOutcomes, type Write } from "./managers.ts";

beforeAll(openScene);

const applies = (by: string, fields: object): Write => ({ by, how: "applies", fields });
const edits = (by: string, fields: object): Write => ({ by, how: "edits", fields });
const A = { data: { a: "1" } };

const CASES: Readonly<Record<string, readonly Write[]>> = {
  "an apply of an empty map": [edits("one", {}), applies("two", { data: {} }), applies("two", { data: {} })],
  "an apply of an empty map, which somebody fills": [
    edits("one", {}),
    applies("two", { data: {} }),
    edits("three", A),
    applies("two", { data: {} }),
    edits("three", {}),
  ],
  "an apply of no labels": [
    edits("one", { metadata: { labels: { l: "1" } } }),
    applies("two", { metadata: { labels: null } }),
  ],
  "an apply of a map that is null": [edits("one", A), applies("two", { data: null }), applies("two", { data: null })],
  "an apply by three clients, again by the first": [
    edits("zero", {}),
    applies("one", A),
    applies("two", A),
    edits("three", { data: { a: "1", b: "1" } }),
    applies("one", A),
    applies("two", { data: { b: "1" } }),
  ],
};

it.each(Object.entries(CASES))(
  "the model and the real API server agree on who manages which field after %s",
  async (name, writes) => {
    const { real, model } = await bothOutcomes(manifest("v1", "ConfigMap", name.replaceAll(/\W+/g, "-")), writes);
    expect(model).toEqual(real);
  },
);

const value = fc.constantFrom("1", "2");
const port = fc.record(
  { port: fc.constantFrom(80, 81), protocol: fc.constantFrom("TCP", "UDP"), name: value },
  { requiredKeys: ["port"] },
);
const key = fc.constantFrom("a", "b");
/** An empty map of labels of a custom resource is another text in etcd than none: to leave it out is a write. */
const labels = fc.dictionary(key, value, { minKeys: 1 });
const spec = fc.record(
  {
    colour: value,
    hosts: fc.uniqueArray(value),
    args: fc.array(value, { maxLength: 2 }),
    selector: fc.dictionary(key, value),
    ports: fc.uniqueArray(port, { maxLength: 3, selector: ({ port, protocol = "TCP" }) => `${port} ${protocol}` }),
  },
  { requiredKeys: [] },
);
const write: fc.Arbitrary<Write> = fc.record({
  by: fc.constantFrom("one", "two"),
  how: fc.constantFrom("edits", "applies"),
  fields: fc.record({ spec, metadata: fc.record({ labels }, { requiredKeys: [] }) }, { requiredKeys: [] }),
});

describe("the model and the real API server agree on who manages which field after any writes", () => {
  let count = 0;
  it("of a custom resource", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 2, maxLength: 5 }), async (writes) => {
        const object = manifest(`${GROUP}/v1`, "Split", `managed-${(count += 1)}`);
        const { real, model } = await bothOutcomes(object, writes);
        expect(model).toEqual(real);
      }),
      { numRuns: 60 },
    );
  });
});
