import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type Fields, has, type Path } from "../../../packages/controller/src/core/merge/field-set.ts";
import { isObject, type JsonObject, type KubeObject } from "@janus/types";
import { restoredOwnership } from "../../../packages/controller/src/core/merge/restored-ownership.ts";
import { nodes } from "./arbitrary-fields.ts";
import { thing } from "./thing.ts";

const NAMES = ["spec.a", "spec.b", "data.x", "data.y"] as const;

const nested = <A>(pairs: readonly (readonly [name: string, value: A])[], of: (name: string) => string) => {
  const object: Record<string, Record<string, A>> = {};
  for (const [name, value] of pairs) {
    const [parent = "", field = ""] = name.split(".").map(of);
    object[parent] = { ...object[parent], [field]: value };
  }
  return object;
};

const value = fc.constantFrom("1", "2", undefined);
const values: fc.Arbitrary<JsonObject> = fc.tuple(value, value, value, value).map((all) =>
  nested(
    NAMES.flatMap((name, at) => (all[at] === undefined ? [] : [[name, all[at]] as const])),
    (name) => name,
  ),
);
const owned: fc.Arbitrary<Fields> = fc.subarray([...NAMES]).map((names) =>
  nested(
    names.map((name) => [name, {}] as const),
    (name) => `f:${name}`,
  ),
);

/** What is restored has parts that are the very ones of before, and others that are not. */
const objects = fc
  .record({ before: values, live: values, other: values, same: fc.subarray(["spec", "data"]) })
  .map(({ before, live, other, same }) => ({
    before,
    live,
    restored: { ...other, ...Object.fromEntries(same.map((name) => [name, before[name] ?? {}] as const)) },
  }));

const at = (object: JsonObject, path: Path): unknown =>
  path.reduce<unknown>((node, element) => (isObject(node) ? node[element.slice(2)] : undefined), object);

const object = (fields: JsonObject, managedFields: KubeObject["metadata"]["managedFields"] = []): KubeObject => {
  const { metadata, ...rest } = thing(fields);
  return { ...rest, metadata: { ...metadata, managedFields } };
};

const entry = (manager: string, fieldsV1: Fields, apiVersion = "v1") => ({
  manager,
  operation: "Update" as const,
  apiVersion,
  fieldsV1,
});

it("gives back to a former owner each field that has its value of before again, which we had taken, and no other", () => {
  fc.assert(
    fc.property(
      objects,
      owned,
      owned,
      owned,
      fc.boolean(),
      fc.constantFrom("v1", "v2"),
      ({ before, live, restored }, former, ours, theirs, isAsBefore, version) => {
        const entries = restoredOwnership({
          before: object(before, [entry("gitops", former, version)]),
          live: object(live),
          restored,
          isAsBefore,
          ours,
          others: [entry("hpa", theirs)],
          dropped: [],
        });
        const given = entries.find(({ manager }) => manager === "gitops")?.fieldsV1 ?? {};
        const isGivenBack = (path: Path): boolean => {
          if (at(restored, path) === undefined)
            return (isAsBefore || version === "v1") && at(before, path) === undefined && !has(theirs, path);
          return (has(ours, path) || at(live, path) === undefined) && at(restored, path) === at(before, path);
        };
        const fields = nodes(former).filter((path) => path.length === 2);
        expect(fields.filter((path) => has(given, path))).toEqual(fields.filter(isGivenBack));
      },
    ),
    { numRuns: 2000 },
  );
});
