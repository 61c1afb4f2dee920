import * as fc from "fast-check";

/** Values of one field: mostly what is right, so that the rest of a spec matters, and what is just beyond or on a border. */
interface Values {
  readonly right: readonly unknown[];
  readonly odd: readonly unknown[];
}

const oddJson: readonly unknown[] = [undefined, null, "", " ", 5, true, [], {}];
const durations: Values = {
  right: [undefined, "5m", "1h30m", "1.5s", "1s", "+2m", null],
  odd: ["0", "5", "1d", "999ms", "-5m", "5m ", "1\u00b5s", "99999999999h", "1s".repeat(32), "1s".repeat(33)],
};

const values = {
  serviceAccountName: {
    right: ["deploy-sa", "a.b"],
    odd: ["A", ".", "-a", "a-", "a..b", "s".repeat(253), "s".repeat(254), "system:x"],
  },
  lockTimeout: durations,
  timeout: durations,
  type: { right: ["Create", "Update", "Patch", "Apply", "Replace"], odd: ["Delete", "Swap", "patch"] },
  resourceVersion: { right: [undefined, null], odd: ["7", "7".repeat(253), "7".repeat(254)] },
  apiVersion: {
    right: ["v1", "apps/v1", "apps/v1beta1"],
    odd: [
      ..."/v1 v1/ a/b/v1 Apps/v1 a..b/v1 -a/v1 a-/v1 apps/V1 apps/1v apps/v-1 apps/v1- é/v1".split(" "),
      "v1\n",
      `${"a".repeat(253)}/v${"1".repeat(62)}`,
      `${"a".repeat(253)}/v${"1".repeat(63)}`,
    ],
  },
  kind: {
    right: ["ConfigMap", "Secret"],
    odd: [..."configmap Config-Map -x x- a/b 1x x1 É".split(" "), "K".repeat(63), "K".repeat(64)],
  },
  name: {
    right: ["a", "b", "c", "system:node"],
    odd: [
      ...". .. ... .a a/b / a%b A é".split(" "),
      "a\nb",
      "\u0000",
      "x".repeat(253),
      "x".repeat(254),
      "😀".repeat(253),
      "😀".repeat(254),
    ],
  },
  namespace: {
    right: [undefined, "shop", "a-b"],
    odd: [..."A -a a- a.b a/b".split(" "), "n".repeat(63), "n".repeat(64)],
  },
  "content.apiVersion": { right: [undefined, "v1", null], odd: ["v2"] },
  "content.kind": { right: [undefined, "ConfigMap", null], odd: ["Other"] },
  "content.metadata.name": { right: [undefined, "a", "b", null], odd: ["other", "x".repeat(254)] },
  "content.metadata.namespace": { right: [undefined, "shop", null], odd: ["other"] },
  "content.metadata.generateName": { right: [undefined, null], odd: ["a-"] },
  waitFor: {
    right: [undefined, [], ["ready", "create", "delete"], ["condition=A=False", "jsonpath={.a}=b", "cel=true"], null],
    odd: [
      "ready",
      ["Ready"],
      ["go"],
      ["condition"],
      [""],
      ["cel=", "x"],
      ["cel=" + "x".repeat(1021)],
      Array(9).fill("ready"),
    ],
  },
  waitTimeout: { right: [undefined, "10m", null], odd: ["0s", "x", 5] },
  // Fields that there are not.
  approval: { right: [undefined], odd: ["required"] },
  "target.uid": { right: [undefined], odd: ["u"] },
} satisfies Record<string, Values>;

type Field = keyof typeof values;
type Chosen = Readonly<Record<Field, unknown>>;
const names = Object.keys(values) as readonly Field[];

/** Drops what is undefined, as JSON does. */
const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const changeOf = (chosen: Chosen): Record<string, unknown> => ({
  ...defined({
    type: chosen.type,
    resourceVersion: chosen.resourceVersion,
    waitFor: chosen.waitFor,
    waitTimeout: chosen.waitTimeout,
  }),
  target: defined({
    apiVersion: chosen.apiVersion,
    kind: chosen.kind,
    name: chosen.name,
    namespace: chosen.namespace,
    uid: chosen["target.uid"],
  }),
  content: {
    ...defined({ apiVersion: chosen["content.apiVersion"], kind: chosen["content.kind"] }),
    metadata: {
      ...defined({
        name: chosen["content.metadata.name"],
        namespace: chosen["content.metadata.namespace"],
        generateName: chosen["content.metadata.generateName"],
      }),
      labels: { a: null },
    },
    data: { gone: null, list: [null], nested: { "": [1.5, "é", false] } },
  },
});

const specOf = (chosen: Chosen, changes: unknown): Record<string, unknown> => ({
  ...defined({
    serviceAccountName: chosen.serviceAccountName,
    lockTimeout: chosen.lockTimeout,
    timeout: chosen.timeout,
  }),
  changes,
  ...defined({ approval: chosen.approval }),
});

const base = Object.fromEntries(names.map((name) => [name, values[name].right[0]])) as Chosen;
const odd = (name: Field): readonly unknown[] => [...values[name].odd, ...oddJson];

const ref = { name: "contents", key: "a" };
const sources: readonly unknown[] = [
  ...oddJson,
  { configMapKeyRef: ref },
  { secretKeyRef: ref },
  { configMapKeyRef: ref, secretKeyRef: ref },
  { configMapKeyRef: ref, secretKeyRef: null },
  { secretKeyRef: { ...ref, optional: true } },
  { fieldRef: ref },
  ...["", "A", "a_b", "a.b", "a".repeat(253), "a".repeat(254), ...oddJson].map((name) => ({
    secretKeyRef: defined({ ...ref, name }),
  })),
  ...["", ".", "A_b-c.d", "a/b", "é", "k".repeat(253), "k".repeat(254), ...oddJson].map((key) => ({
    configMapKeyRef: defined({ ...ref, key }),
  })),
];

/** With its content elsewhere, and without. */
const sourced: readonly unknown[] = sources.flatMap((contentFrom) => {
  const { content, ...change } = changeOf(base);
  return [
    specOf(base, [defined({ ...change, contentFrom })]),
    specOf(base, [defined({ ...change, content, contentFrom })]),
    specOf(base, [defined({ ...change, type: "Delete", contentFrom })]),
  ];
});

/** One spec for each value of each field, right in all others; and odd objects and lists in place of right ones. */
export const borders: readonly unknown[] = [
  ...names
    .flatMap((name) => [...values[name].right, ...odd(name)].map((value) => ({ ...base, [name]: value })))
    .map((chosen) => specOf(chosen, [changeOf(chosen)])),
  ...["target", "content", "type"].flatMap((field) =>
    oddJson.map((value) => specOf(base, [defined({ ...changeOf(base), [field]: value })])),
  ),
  ...oddJson.map((metadata) => specOf(base, [{ ...changeOf(base), content: defined({ metadata }) }])),
  ...oddJson.flatMap((content) => [
    specOf(base, [defined({ ...changeOf(base), type: "Delete", content })]),
    specOf(base, content),
    specOf(base, [content]),
    content,
  ]),
  ...sourced,
];

const arbitrary = (name: Field): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 50, arbitrary: fc.constantFrom<unknown>(...values[name].right) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(...odd(name)) },
  );
const chosen = fc.record(Object.fromEntries(names.map((name) => [name, arbitrary(name)]))) as fc.Arbitrary<Chosen>;
const change = fc.oneof(
  chosen.map(changeOf),
  chosen.map((chosen) => {
    const { content: _, ...change } = changeOf(chosen);
    return { ...change, type: "Delete" };
  }),
);

/** Specs with several changes and a few oddities; many are accepted and many refused. */
export const spec: fc.Arbitrary<unknown> = fc
  .tuple(chosen, fc.array(change, { minLength: 1, maxLength: 3 }))
  .map(([chosen, changes]) => specOf(chosen, changes));

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
    ".656100000h",
  ),
);
