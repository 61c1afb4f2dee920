import * as fc from "fast-check";

/** Mostly what is right, so that the rest of a spec matters, and now and then what is just on either side of a border. */
const mostly = (right: readonly unknown[], odd: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 50, arbitrary: fc.constantFrom(...right) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(...odd) },
  );

/** Drops what is undefined, as JSON does. */
const fields = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(model).map((value) => Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)));

const oddJson: readonly unknown[] = [undefined, null, "", " ", 5, true, [], {}];

const duration = mostly(
  [undefined, "5m", "1h30m", "1.5s", "1s", "+2m", null],
  [...oddJson, "0", "5", "1d", "999ms", "-5m", "5m ", "1\u00b5s", "99999999999h", "1s".repeat(32), "1s".repeat(33)],
);
const apiVersion = mostly(
  ["v1", "apps/v1", "apps/v1beta1"],
  [
    ...oddJson,
    "/v1",
    "v1/",
    "a/b/v1",
    "Apps/v1",
    "a..b/v1",
    "-a/v1",
    "a-/v1",
    "apps/V1",
    "apps/1v",
    "apps/v-1",
    "é/v1",
    "v1\n",
    `${"a".repeat(253)}/v${"1".repeat(62)}`,
    `${"a".repeat(253)}/v${"1".repeat(63)}`,
  ],
);
const kind = mostly(
  ["ConfigMap", "Secret"],
  [...oddJson, "configmap", "Config-Map", "-x", "x-", "a/b", "1x", "x1", "É", "K".repeat(63), "K".repeat(64)],
);
const name = mostly(
  ["a", "b", "c", "system:node"],
  [
    ...oddJson,
    ".",
    "..",
    "...",
    ".a",
    "a/b",
    "/",
    "a%b",
    "A",
    "é",
    "a\nb",
    "\u0000",
    "x".repeat(253),
    "x".repeat(254),
    "😀".repeat(253),
    "😀".repeat(254),
  ],
);
const namespace = mostly(
  [undefined, "shop", "a-b"],
  [...oddJson, "A", "-a", "a-", "a.b", "a/b", "n".repeat(63), "n".repeat(64)],
);
const target = fields({ apiVersion, kind, name, namespace, uid: mostly([undefined], [5, "dropped"]) });

const metadata = fields({
  name: mostly([undefined, "a", "b", null], [...oddJson, "x".repeat(254)]),
  namespace: mostly([undefined, "shop", null], oddJson),
  generateName: mostly([undefined, null], ["", "a-", 5]),
  labels: fc.constantFrom(undefined, null, { a: "b" }, { a: null }),
});
const content = fields({
  apiVersion: mostly([undefined, "v1", null], oddJson),
  kind: mostly([undefined, "ConfigMap", null], oddJson),
  metadata: fc.oneof({ weight: 10, arbitrary: metadata }, { weight: 1, arbitrary: fc.constantFrom(...oddJson) }),
  data: fc.constantFrom(undefined, null, { a: null }, [null], { nested: { "": [1.5, "é", false] } }),
});

const change = fc.oneof(
  {
    weight: 20,
    arbitrary: fields({
      type: mostly(["Create", "Update", "Patch"], [...oddJson, "Delete", "Apply", "patch"]),
      target,
      content,
      resourceVersion: mostly([undefined, undefined, null], [...oddJson, "7", "7".repeat(253), "7".repeat(254)]),
    }),
  },
  {
    weight: 10,
    arbitrary: fields({
      type: fc.constant("Delete"),
      target,
      content: mostly([undefined, null], [{}]),
      resourceVersion: mostly([undefined, "7", null], oddJson),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, "x", [], {}) },
);

/** Specs near the border of what is accepted; many on either side. */
export const spec: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 60,
    arbitrary: fields({
      serviceAccountName: mostly(
        ["deploy-sa", "a.b"],
        [...oddJson, "A", ".", "-a", "a-", "a..b", "s".repeat(253), "s".repeat(254), "system:x"],
      ),
      lockTimeout: duration,
      timeout: duration,
      changes: fc.oneof(
        { weight: 30, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
        { weight: 1, arbitrary: fc.constantFrom<unknown>(...oddJson) },
      ),
      surplus: fc.constantFrom(undefined, "dropped"),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(...oddJson) },
);

const digits = fc.constantFrom("0", "1", "59", "999", "1000", "0.5", ".5", "5.", "1.000000001", ".", "9223372036");
const unit = fc.constantFrom("h", "m", "s", "ms", "us", "\u00b5s", "\u03bcs", "ns", "", "d", "S", " ");
const term = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(digits, unit).map((pair) => pair.join("")) },
  { weight: 1, arbitrary: fc.tuple(fc.stringMatching(/^\d{0,21}\.?\d{0,25}$/u), unit).map((pair) => pair.join("")) },
);

/** Texts that are, or nearly are, Go durations around 1 s and around the largest one. */
export const durationText: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom("", "", "", "+", "-"), fc.array(term, { minLength: 1, maxLength: 3 }))
    .map(([sign, terms]) => sign + terms.join("")),
  fc.bigInt({ min: (1n << 63n) - 2n, max: (1n << 63n) + 1n }).map((ns) => `${ns}ns`),
  fc.constantFrom(
    "2562047h47m16.854775807s",
    "2562047h47m16.854775808s",
    "999.9999999999999999ms",
    ".99999999999999999999s",
  ),
);
