import { withoutDump } from "../../../packages/types/src/without-dump.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const LONG = "x".repeat(100);

const CLAIM = "spec: Forbidden: spec is immutable after creation except resources.requests";
/** As API servers have it since they compare JSON, and as they had it before, with spaces that do not break. */
const DIFFS = [
  `@@ -6,11 +6,11 @@
  "Resources": {
   "Requests": {
-   "storage": "2Gi"
+   "storage": "1Gi"
   }
  },
@@ -20,3 +20,3 @@
- "StorageClassName": "slow",
+ "StorageClassName": "fast",
  "VolumeMode": "Filesystem",

`,
  `\u00A0\u00A0core.PersistentVolumeClaimSpec{
\u00A0\u00A0\t... // 2 identical fields
-\u00A0\tStorageClassName: &"slow",
+\u00A0\tStorageClassName: &"fast",
\u00A0\u00A0}
`,
];

const got = (value: string): string => `expected string, got &value.valueUnstructured{Value:${value}}`;

describe("of a message of the API server, the reason is shown, and not the long value before it", () => {
  it.each([
    [`spec.template: Invalid value: {"a":{"b":["${LONG}"]}}: field is immutable`, "spec.template: field is immutable"],
    [
      `spec.template: Invalid value: core.PodTemplateSpec{Name:"a\\": {${LONG}", At:time.Date(1, 2)}: field is immutable`,
      "spec.template: field is immutable",
    ],
    [`a: Invalid value: "${LONG}": too long: yes`, "a: too long: yes"],
    [
      `[a: Invalid value: "${LONG}": too long, b: Invalid value: {"c":"${LONG}"}: must be d]`,
      "[a: too long, b: must be d]",
    ],
    ['metadata.name: Invalid value: "A": must be lower case', 'metadata.name: Invalid value: "A": must be lower case'],
    [
      "spec.replicas: Invalid value: -1: must not be negative",
      "spec.replicas: Invalid value: -1: must not be negative",
    ],
    [`spec.x: Invalid value: {"cut off ${LONG}`, `spec.x: Invalid value: {"cut off ${LONG}`],
    ["jobs.batch is forbidden", "jobs.batch is forbidden"],
  ])("%s", (message, shown) => {
    expect(withoutDump(message)).toBe(shown);
  });

  it.each(DIFFS)("also without the diff behind it", (diff) => {
    expect(withoutDump(`${CLAIM}\n${diff}`)).toBe(CLAIM);
    expect(withoutDump(`[${CLAIM}\n${diff}, a: Invalid value: "${LONG}": too long]`)).toBe(`[${CLAIM}, a: too long]`);
  });

  it("also with a value as it was written, where it is of another type than the field", () => {
    const [map, list] = [got('map[string]interface {}{"x":1}'), got("[]interface {}{1}")];
    expect(withoutDump(`failed: errors:\n  .data.on: ${got("true")}\n  .data.a: ${map}\n  .data.b: ${list}`)).toBe(
      "failed: errors:\n  .data.on: expected string, got true\n" +
        "  .data.a: expected string, got map\n  .data.b: expected string, got list",
    );
    expect(withoutDump(`failed: .data.on: ${got("1.5")}`)).toBe("failed: .data.on: expected string, got 1.5");
  });

  it.each(["denied:\n  - no limits\n  + no probes", "@@ -1 is refused", "core.PodSpec{"])(
    "with what is no diff behind a reason: %j",
    (message) => {
      expect(withoutDump(message)).toBe(message);
    },
  );

  it("whatever the value is", () => {
    const reason = "field is immutable";
    fc.assert(
      fc.property(fc.json(), (value) => {
        const shown = withoutDump(`spec: Invalid value: ${value}: ${reason}`);
        expect(shown.startsWith("spec: ")).toBe(true);
        expect(shown.endsWith(reason)).toBe(true);
        expect(shown.length).toBeLessThan(120);
      }),
    );
  });

  it("of any text, it is a part, and the same when it is done again", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("Invalid value: ", '"', "{", "}", ": ", "\\", LONG, "a")), (parts) => {
        const shown = withoutDump(parts.join(""));
        expect(shown.length).toBeLessThanOrEqual(parts.join("").length);
      }),
    );
  });
});
