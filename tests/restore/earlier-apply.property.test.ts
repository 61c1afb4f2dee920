import { applyManager } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import { isObject, type JsonObject } from "@janus/types";
import * as fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { GROUP } from "./kinds.ts";
import { manifest, openScene } from "./scene.ts";
import { lasting, target } from "./target.ts";

beforeAll(openScene);

const value = fc.constantFrom("1", "2", "3");
const port = fc.record(
  { port: fc.constantFrom(80, 81), protocol: fc.constantFrom("TCP", "UDP"), name: value },
  { requiredKeys: ["port"] },
);
/** No map or list is empty: a PUT keeps no empty ones, and who has set them. */
const map = fc.dictionary(fc.constantFrom("a", "b"), value, { minKeys: 1 });

const spec = fc.record(
  {
    colour: value,
    hosts: fc.uniqueArray(value, { minLength: 1 }),
    args: fc.array(value, { minLength: 1, maxLength: 2 }),
    selector: map,
    ports: fc.uniqueArray(port, {
      minLength: 1,
      maxLength: 3,
      selector: ({ port, protocol = "TCP" }) => `${port} ${protocol}`,
    }),
  },
  { requiredKeys: [] },
);

/** Every sort of map and list, each of which a manifest may leave out. */
const content = fc
  .record({ spec, labels: fc.option(map, { nil: undefined }) })
  .map(({ spec, labels }): JsonObject => ({ spec, ...(labels === undefined ? {} : { metadata: { labels } }) }));

const writes = fc.array(fc.tuple(fc.constantFrom("applies" as const, "edits" as const), content), { maxLength: 2 });

const earlier = applyManager({ name: "earlier", uid: "0f1f0c0e-7d7e-4d0e-9a59-7d3c5f3c6c11" });

let count = 0;
const written = async (
  by: string,
  first: JsonObject,
  since: readonly (readonly ["applies" | "edits", JsonObject])[],
) => {
  const object = await target(manifest(`${GROUP}/v1`, "Split", `earlier-${(count += 1)}`));
  await object.apply(by, first);
  // What the API server rejects is not written, to neither.
  for (const [how, fields] of since)
    await (how === "applies" ? object.apply("gitops", fields, true) : object.edit("person", fields)).catch(
      () => undefined,
    );
  return object;
};

/** Without what is empty: where an apply takes the last item from a list, it may take away the list, or even what it is in. */
const filled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(filled);
  if (!isObject(value)) return value ?? undefined;
  const entries = Object.entries(value).flatMap(([name, below]) => {
    const some = filled(below);
    return some === undefined ? [] : [[name, some] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

const said = ({ spec, metadata: { labels } }: KubeObject) => filled({ spec, labels });

/** The entries of others. */
const others = ({ metadata: { managedFields = [] } }: KubeObject) =>
  managedFields
    .filter(({ manager }) => manager === "gitops" || manager === "person")
    .map((entry) => ({ ...entry, time: undefined }));

it("an Apply over an earlier one makes of an object what a server-side apply of one manager does, and it is taken back", async () => {
  await fc.assert(
    fc.asyncProperty(content, writes, content, async (first, since, second) => {
      const reference = await written("lasting", first, since);
      const object = await written(earlier, first, since);
      const was = await object.read();
      const wanted = await reference.apply("lasting", second, true).catch((refusal: Error) => refusal.message);
      if (typeof wanted === "string") return;
      const { changed, restore } = await object.change("Apply", second);
      expect(said(changed)).toEqual(said(wanted));
      expect(others(changed)).toEqual(others(wanted));
      // Of an object without managers, nothing shows who has set what.
      if (was.metadata.managedFields === undefined) return;
      const { object: restored, conflicts, isOurs } = await restore();
      expect({ conflicts, isOurs }).toEqual({ conflicts: [], isOurs: false });
      expect(lasting(restored)).toEqual(lasting(was));
    }),
    { numRuns: 40 },
  );
});
