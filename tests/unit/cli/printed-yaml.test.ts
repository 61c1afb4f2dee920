import { readYaml } from "@janus/types";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../../../packages/cli/src/manifests/kubernetes-yaml.ts";
import { seed } from "../../fixtures/sample.ts";
import { anyCharacter } from "../core/arbitrary-text.ts";

const numberLike = fc.string({ unit: fc.constantFrom(..."0123456789._+-eExob:".split("")), maxLength: 8 });
const indicators = fc.string({ unit: fc.constantFrom(..."ab \n\t:#-,[]{}'\"&*!|>?%@\\~=<".split("")), maxLength: 12 });
const text = fc.oneof(
  numberLike,
  indicators,
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.lorem({ maxCount: 30 }),
);
const object = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.constantFrom("<<", "7e12345", ".", "0o7", ".1_0", "yes"),
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(text, tie("value"), { maxKeys: 3 }),
  ),
}));

it("what is printed as YAML is read as it was", () => {
  fc.assert(
    fc.property(object.value, fc.constantFrom(0, 80), (value, lineWidth) => {
      const printed = stringify({ value }, { ...KUBERNETES_YAML, lineWidth, aliasDuplicateObjects: false });
      expect(readYaml(printed)).toEqual([{ value: { value }, line: 1 }]);
    }),
    { seed, numRuns: 2_000 },
  );
});
