import type { SimulatedObject } from "@janus/testing";
import * as fc from "fast-check";
import { transactionOf } from "./shop.ts";

/** A Transaction whose changes are all possible, and what it finds. */
export interface Release {
  readonly transaction: object;
  readonly live: readonly SimulatedObject[];
  readonly length: number;
}

const name = fc.constantFrom("a", "b", "c");
const text = fc.constantFrom("", "1", "2", "x: y\n");
const texts = fc.dictionary(name, text, { maxKeys: 3 });
const inBase64 = fc.dictionary(name, text.map(btoa), { maxKeys: 3 });

const env = fc.uniqueArray(fc.record({ name, value: text }), { selector: (one) => one.name });
const ports = fc.uniqueArray(
  fc.record(
    { containerPort: fc.constantFrom(80, 443), protocol: fc.constantFrom("TCP", "UDP"), name: fc.constant("p") },
    { requiredKeys: ["containerPort"] },
  ),
  { selector: ({ containerPort, protocol = "TCP" }) => `${containerPort}/${protocol}` },
);
const container = fc.record(
  { name, image: text, args: fc.array(text, { maxLength: 2 }), env, ports, resources: fc.record({ limits: texts }) },
  { requiredKeys: ["name", "image"] },
);
const podTemplate = fc.record({
  metadata: fc.record({ labels: fc.constant({ app: "web" }) }),
  spec: fc.record(
    {
      containers: fc.uniqueArray(container, { selector: (one) => one.name, minLength: 1 }),
      nodeSelector: texts,
      tolerations: fc.array(fc.record({ key: text }), { maxLength: 2 }),
    },
    { requiredKeys: ["containers"] },
  ),
});

/** Fields of each kind besides the metadata. */
const FIELDS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  "v1 ConfigMap": fc.record({ data: texts, immutable: fc.constant(false) }, { requiredKeys: [] }),
  "v1 Secret": fc.record({ data: inBase64, stringData: texts }, { requiredKeys: [] }),
  "apps/v1 Deployment": fc.record({
    spec: fc.record({ replicas: fc.nat(3), template: podTemplate }, { requiredKeys: ["template"] }),
  }),
  "example.com/v1 Widget": fc.record(
    {
      spec: fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes("__proto__")),
      size: fc.nat(),
    },
    { requiredKeys: [] },
  ),
};

const metadata = fc.record(
  {
    labels: texts,
    annotations: texts,
    finalizers: fc.uniqueArray(fc.constantFrom("example.com/a", "example.com/b")),
  },
  { requiredKeys: [] },
);

type Type = "Create" | "Update" | "Patch" | "Apply" | "Delete";

interface Part {
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly type: Type;
  readonly before: object;
  readonly own: object;
  readonly content: { readonly metadata: object };
  readonly exists: boolean;
}

const part = fc.constantFrom(...Object.keys(FIELDS)).chain((kind): fc.Arbitrary<Part> => {
  const fields = FIELDS[kind] ?? fc.constant({});
  const [apiVersion = "", kindName = ""] = kind.split(" ");
  return fc.record({
    target: name.map((name) => ({ apiVersion, kind: kindName, name })),
    type: fc.constantFrom<Type>("Create", "Update", "Patch", "Apply", "Delete"),
    before: fields,
    own: metadata,
    content: fc.tuple(fields, metadata).map(([fields, metadata]) => ({ ...fields, metadata })),
    exists: fc.boolean(),
  });
});

const isThere = ({ type, exists }: Part): boolean => type !== "Create" && (type !== "Apply" || exists);

const without = (fields: object, name: string): object =>
  Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name));

const withoutFinalizers = (metadata: object): object => without(metadata, "finalizers");

/** A Delete would wait for the finalizers of others … */
const metadataOf = ({ type, own, target }: Part): SimulatedObject["metadata"] => ({
  ...(type === "Delete" ? withoutFinalizers(own) : own),
  name: target.name,
});

/** … and so would the rollback of what was created. */
const contentOf = (part: Part): object => {
  const { metadata, ...fields } = part.content;
  return { ...fields, metadata: isThere(part) ? metadata : withoutFinalizers(metadata) };
};

export const release: fc.Arbitrary<Release> = fc
  .uniqueArray(part, { selector: ({ target }) => `${target.kind} ${target.name}`, minLength: 1, maxLength: 6 })
  .map((parts) => ({
    length: parts.length,
    transaction: transactionOf(
      parts.map((part) => ({
        type: part.type,
        target: part.target,
        ...(part.type === "Delete" ? {} : { content: contentOf(part) }),
      })),
    ),
    live: parts.filter(isThere).map((one) => ({
      apiVersion: one.target.apiVersion,
      kind: one.target.kind,
      metadata: metadataOf(one),
      ...one.before,
    })),
  }));
