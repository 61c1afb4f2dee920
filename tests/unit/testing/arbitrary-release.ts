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

type Type = "Create" | "Update" | "Patch" | "Apply" | "Replace" | "Delete";

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
    type: fc.constantFrom<Type>("Create", "Update", "Patch", "Apply", "Replace", "Delete"),
    before: fields,
    own: metadata,
    content: fc.tuple(fields, metadata).map(([fields, metadata]) => ({ ...fields, metadata })),
    exists: fc.boolean(),
  });
});

/** Whether it takes the object as well if there is none. */
const mayCreate = ({ type }: Part): boolean => type === "Apply" || type === "Replace";
const isThere = (part: Part): boolean => part.type !== "Create" && (!mayCreate(part) || part.exists);
/** Whether the change deletes what is there. */
const isDeleting = ({ type }: Part): boolean => type === "Delete" || type === "Replace";

const without = (fields: object, name: string): object =>
  Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name));

const withoutFinalizers = (metadata: object): object => without(metadata, "finalizers");

/** A deletion would wait for the finalizers of others … */
const metadataOf = (part: Part): SimulatedObject["metadata"] => ({
  ...(isDeleting(part) ? withoutFinalizers(part.own) : part.own),
  name: part.target.name,
});

/** … and so would the rollback of what was created. */
const contentOf = (part: Part): object => {
  const { metadata, ...fields } = part.content;
  return { ...fields, metadata: isThere(part) && !isDeleting(part) ? metadata : withoutFinalizers(metadata) };
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
