// Tests that kubectl explain says something of every field that users write.
import { asObject, type JsonObject } from "@janus/types";
import { expect, it } from "vitest";
import { ActionSetSpec } from "../../../packages/blueprints/src/api/action-set.ts";
import { Blueprint } from "../../../packages/blueprints/src/api/blueprint.ts";
import { Profile } from "../../../packages/blueprints/src/api/profile.ts";

/** The fields below a schema that have no description, by their paths. */
const unexplained = (schema: JsonObject, path = ""): readonly string[] => [
  ...Object.entries(asObject(schema["properties"])).flatMap(([name, one]) => {
    const field = asObject(one);
    const at = `${path}.${name}`;
    return [...(typeof field["description"] === "string" ? [] : [at]), ...unexplained(field, at)];
  }),
  ...["items", "additionalProperties"].flatMap((of) =>
    schema[of] === undefined ? [] : unexplained(asObject(schema[of]), `${path}[]`),
  ),
];

it.each([
  ["spec of an ActionSet", ActionSetSpec.schema],
  ["Blueprint", Blueprint.schema],
  ["Profile", Profile.schema],
])("each field of the %s has a description", (_, schema) => {
  expect(unexplained(schema as unknown as JsonObject)).toEqual([]);
});
