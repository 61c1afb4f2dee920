import * as fc from "fast-check";
import type { Fields, Path } from "../../../packages/controller/src/core/merge/field-set.ts";

const element = fc.constantFrom("f:a", "f:b", "f:__proto__", 'k:{"name":"web"}', 'k:{"name":"db"}', 'v:"x"', "i:0");

/** A set of fields as the API server writes it: a node without children is in the set, one with children if it says ".". */
export const fields: fc.Arbitrary<Fields> = fc
  .letrec<{ node: Fields; inner: Fields }>((tie) => ({
    node: fc.oneof({ maxDepth: 4 }, fc.constant({}), tie("inner")),
    inner: fc
      .tuple(
        fc.uniqueArray(fc.tuple(element, tie("node")), { minLength: 1, maxLength: 3, selector: ([name]) => name }),
        fc.boolean(),
      )
      .map(([children, self]) => ({ ...(self ? { ".": {} } : {}), ...Object.fromEntries(children) })),
  }))
  .inner.map((set) => Object.fromEntries(Object.entries(set).filter(([name]) => name !== ".")))
  .chain((set) => fc.constantFrom(set, set, set, {}));

/** Every node of the tree, whether it is in the set or only on the way to what is. */
export const nodes = (set: Fields, path: Path = []): readonly Path[] =>
  Object.entries(set).flatMap(([name, below]) =>
    name === "." ? [] : [[...path, name], ...nodes(below as Fields, [...path, name])],
  );
