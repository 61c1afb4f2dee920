// Moves contents that are large or secret out of the spec into ConfigMaps and Secrets.
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { API_VERSION, groupOf, KIND, TRANSACTION_LABEL, type Transaction, transactionLabel } from "@janus/api";
import type { ChangeManifest, Manifest, TransactionManifest } from "@janus/authoring";
import { contentWeight, MOST_CONTENTS, surplusBytes } from "@janus/controller";
import type { JsonObject } from "@janus/types";
import { Failure } from "../failure.ts";
import { asStored } from "./as-stored.ts";

type Kind = "ConfigMap" | "Secret";

/** A content that does not stay in the spec. */
interface Aside {
  readonly index: number;
  readonly kind: Kind;
  readonly content: JsonObject;
}

/** A Transaction without the contents that are large or secret, and the objects that have them. */
export interface SetAside {
  readonly manifest: TransactionManifest;
  readonly objects: readonly Manifest[];
  /** The contents of the objects, by `kind/name` and key. */
  readonly contents: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;
}

/** The most compressed contents in one object, in bytes: below the limit of 1 MiB, with room for keys and metadata. */
const MOST_BYTES = 900 * 1024;
/** The bytes that the reference to a content takes in the spec, and its object in the status, at most. */
const REFERENCE_BYTES = 700;
/** Bytes left for what admission adds to the Transaction, such as who has created it. */
const SPARE_BYTES = 8 * 1024;

const isSecret = ({ target: { apiVersion, kind } }: ChangeManifest): boolean =>
  kind === "Secret" && groupOf(apiVersion) === "";

const bytesOf = (content: JsonObject): number => Buffer.byteLength(JSON.stringify(content));

/** Every Secret; then of what is left the largest, until the Transaction has room for its status. */
const chosen = ({ spec }: TransactionManifest, txn: Transaction): readonly Aside[] => {
  const all = spec.changes.flatMap((change, index) => {
    const { content } = change;
    return content === undefined ? [] : [{ index, change, content, bytes: bytesOf(content) }];
  });
  let surplus = surplusBytes(txn) + SPARE_BYTES;
  return all
    .toSorted((a, b) => Number(isSecret(b.change)) - Number(isSecret(a.change)) || b.bytes - a.bytes)
    .flatMap(({ index, change, content, bytes }): readonly Aside[] => {
      const isHidden = isSecret(change);
      if (!isHidden && (surplus <= 0 || bytes <= REFERENCE_BYTES)) return [];
      surplus -= bytes - REFERENCE_BYTES;
      return [{ index, kind: isHidden ? "Secret" : "ConfigMap", content }];
    });
};

const keyOf = (index: number): string => `changes-${index}`;

/** Objects of one kind, each with as many contents as there is room for, compressed and in base64 by key. */
const packed = (all: readonly Aside[], kind: Kind): readonly ReadonlyMap<string, string>[] => {
  const packs: Map<string, string>[] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const { index, content } of all.filter((one) => one.kind === kind)) {
    const zipped = gzipSync(JSON.stringify(content));
    if (size + zipped.length > MOST_BYTES) {
      packs.push(new Map());
      size = 0;
    }
    packs.at(-1)?.set(keyOf(index), zipped.toString("base64"));
    size += zipped.length;
  }
  return packs;
};

/** The Transaction's digest of a Secret is shown to all who may read it: without this, its values could be guessed by that. */
const SALT = () => ({ salt: randomBytes(16).toString("base64") });

const objectOf = (kind: Kind, name: string, data: ReadonlyMap<string, string>, of: string): Manifest => {
  const labels = { "app.kubernetes.io/managed-by": "kubectl-janus", [TRANSACTION_LABEL]: transactionLabel(of) };
  const values = Object.fromEntries(data);
  return {
    apiVersion: "v1",
    kind,
    metadata: { name, labels },
    immutable: true,
    ...(kind === "Secret" ? { data: { ...values, ...SALT() } } : { binaryData: values }),
  };
};

const referring = (change: ChangeManifest, kind: Kind, ref: { name: string; key: string }): ChangeManifest => {
  const { content: _, ...rest } = change;
  return { ...rest, contentFrom: kind === "Secret" ? { secretKeyRef: ref } : { configMapKeyRef: ref } };
};

/**
 * Takes the contents out of a Transaction that must not be in it: those of Secrets, which all who may read Transactions would
 * read, and as many of the largest as it has no room for.
 *
 * Guarantees: the Transaction does the same; no value of a Secret is in it.
 * Errors: contents that are larger than the controller reads.
 */
export const contentsAside = (manifest: TransactionManifest, namespace: string): SetAside => {
  const aside = chosen(manifest, asStored(manifest, namespace));
  if (aside.length === 0) return { manifest, objects: [], contents: new Map() };
  const weight = aside.reduce((sum, { content }) => sum + contentWeight(JSON.stringify(content)), 0);
  if (weight > MOST_CONTENTS)
    throw new Failure(
      `the manifests are larger than ${MOST_CONTENTS / 2 ** 20} MiB: split them into several Transactions`,
    );
  const { name } = manifest.metadata;
  const stem = `${name.slice(0, 200).replace(/[^a-z0-9]+$/u, "")}-contents-${randomBytes(4).toString("hex")}`;
  const changes = [...manifest.spec.changes];
  const contents = new Map<string, ReadonlyMap<string, JsonObject>>();
  const objects = (["ConfigMap", "Secret"] as const).flatMap((kind) =>
    packed(aside, kind).map((data, number) => {
      const object = objectOf(kind, `${stem}-${number}`, data, name);
      const here = aside.filter((one) => one.kind === kind && data.has(keyOf(one.index)));
      contents.set(
        `${kind}/${object.metadata.name}`,
        new Map(here.map(({ index, content }) => [keyOf(index), content])),
      );
      for (const { index } of here) {
        const change = changes[index];
        if (change !== undefined)
          changes[index] = referring(change, kind, { name: object.metadata.name, key: keyOf(index) });
      }
      return object;
    }),
  );
  return { manifest: { ...manifest, spec: { ...manifest.spec, changes } }, objects, contents };
};

/** The object as one that goes with its Transaction. */
export const ownedBy = (object: Manifest, name: string, uid: string): Manifest => ({
  ...object,
  metadata: { ...object.metadata, ownerReferences: [{ apiVersion: API_VERSION, kind: KIND, name, uid }] },
});
