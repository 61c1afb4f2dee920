// Encodes snapshots as data of ConfigMaps and Secrets, split by size, with a digest.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  SNAPSHOT_FINALIZER,
  type SnapshotStore,
  storeName,
  type Transaction,
  TRANSACTION_LABEL,
  transactionLabel,
  UID_LABEL,
} from "@janus/api";
import { fromBase64 } from "../kubernetes/base64.ts";
import { ofLater, unknownKeys } from "../state/format.ts";
import type { StoreData } from "../state/store-observations.ts";
import { configMaps, type ObjectRef, secrets } from "../kubernetes/kube-object.ts";
import { asObject, canonical, isObject, type JsonObject, type KubeObject, parseJson } from "@janus/types";

/** The most bytes of a store: below the limit of 1 MiB for the data of a ConfigMap or Secret, with room for keys and metadata. */
export const STORE_BYTES = 900 * 1024;

/** The content of a store, before it has a name. */
export interface Pack {
  readonly kind: SnapshotStore["kind"];
  readonly data: ReadonlyMap<string, string>;
}

/** With what identifies it, see {@link digestOfStore}. */
export interface DigestedPack extends Pack {
  readonly digest: string;
}

/** The key of the snapshot of a change. If it is too large for one store, its parts are `<key>.0`, `<key>.1` … */
export const snapshotKey = (index: number, object: KubeObject): string =>
  `item-${index}-${object.metadata.resourceVersion ?? "0"}`;

export const isOfSecret = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === "v1" && kind === "Secret";

/** Splits text into parts of at most this many bytes (UTF-8), never within a character. */
const parts = (text: string, bytes: number): readonly string[] => {
  const cut: string[] = [];
  let from = 0;
  while (from < text.length) {
    // A UTF-16 unit takes at most three bytes: a third of the limit always fits.
    let to = Math.min(text.length, from + Math.floor(bytes / 3));
    if (to < text.length && /[\uD800-\uDBFF]/u.test(text.charAt(to - 1))) to -= 1;
    cut.push(text.slice(from, to));
    from = to;
  }
  return cut;
};

/**
 * Packs snapshots into stores of at most 900 KiB. Secrets go into Secrets, everything else into ConfigMaps.
 * @returns the stores, ConfigMaps first, and for each snapshot the number of the store that it starts in.
 */
export const pack = (
  snapshots: ReadonlyMap<number, KubeObject>,
): { readonly packs: readonly DigestedPack[]; readonly starts: ReadonlyMap<number, number> } => {
  const packs: Pack[] = [];
  const starts = new Map<number, number>();
  for (const kind of ["ConfigMap", "Secret"] as const) {
    let data = new Map<string, string>();
    let size = Number.POSITIVE_INFINITY;
    for (const [index, object] of snapshots) {
      if (isOfSecret(object) !== (kind === "Secret")) continue;
      const text = canonical(object);
      const pieces = utf8ToBytes(text).length <= STORE_BYTES ? [text] : parts(text, STORE_BYTES);
      pieces.forEach((piece, part) => {
        const bytes = utf8ToBytes(piece).length;
        if (size + bytes > STORE_BYTES) {
          data = new Map();
          size = 0;
          packs.push({ kind, data });
        }
        if (part === 0) starts.set(index, packs.length - 1);
        data.set(pieces.length === 1 ? snapshotKey(index, object) : `${snapshotKey(index, object)}.${part}`, piece);
        size += bytes;
      });
    }
  }
  return { packs: packs.map((one) => ({ ...one, digest: digestOfStore(one.data) })), starts };
};

/** Identifies the content of a store, besides its uid. */
export const digestOfStore = (data: ReadonlyMap<string, string>): string =>
  `sha256:${bytesToHex(sha256(utf8ToBytes(canonical(Object.fromEntries(data)))))}`;

export const storePlace = (txn: Transaction, store: Pick<SnapshotStore, "kind" | "name">): ObjectRef => ({
  resource: store.kind === "Secret" ? secrets : configMaps,
  namespace: txn.metadata.namespace,
  name: store.name,
});

const KEYS = /^item-\d+-/u;

/** Why a store is neither read, released nor deleted: a later version of the controller wrote it. */
export const laterStore = (
  txn: Transaction,
  store: Pick<SnapshotStore, "kind" | "name">,
  object: KubeObject,
): string | undefined =>
  ofLater(
    "snapshot",
    storePlace(txn, store),
    object,
    (data) => unknownKeys(data, KEYS),
    store.kind === "Secret" ? fromBase64 : undefined,
  );

/** No owner reference: a foreground deletion of the Transaction would delete it while it may be needed. */
export const storeBody = (txn: Transaction, n: number, { kind, data }: Pack): object => ({
  apiVersion: "v1",
  kind,
  metadata: {
    name: storeName(txn.metadata.name, n),
    namespace: txn.metadata.namespace,
    labels: {
      [MANAGED_BY_LABEL]: MANAGED_BY,
      [TRANSACTION_LABEL]: transactionLabel(txn.metadata.name),
      [UID_LABEL]: txn.metadata.uid,
    },
    finalizers: [SNAPSHOT_FINALIZER],
  },
  immutable: true,
  [kind === "Secret" ? "stringData" : "data"]: Object.fromEntries(data),
});

/**
 * The data of a store.
 *
 * Guarantees: data is returned only if uid and digest are the recorded ones.
 */
export const openStore = (store: SnapshotStore, object: KubeObject): StoreData => {
  if (object.metadata.uid !== store.uid)
    return { type: "broken", why: `${store.kind} ${store.name} is not the object that was written` };
  const data = new Map(
    Object.entries(asObject(object["data"])).map(([key, text]) => {
      const plain = typeof text === "string" ? text : "";
      return [key, store.kind === "Secret" ? (fromBase64(plain) ?? "") : plain];
    }),
  );
  return digestOfStore(data) === store.digest
    ? { type: "data", data }
    : { type: "broken", why: `the content of ${store.kind} ${store.name} was modified` };
};

/** The former object, put together from the stores with its parts; `undefined` if a part is missing. */
export const unpack = (key: string, stores: readonly ReadonlyMap<string, string>[]): KubeObject | undefined => {
  const all = new Map(stores.flatMap((data) => [...data]));
  const text = all.get(key) ?? joined(key, all);
  if (text === undefined) return undefined;
  const object = parseJson(text);
  const isWhole = isObject(object) && isObject(object["metadata"]) && isTyped(object);
  return isWhole ? (object as unknown as KubeObject) : undefined;
};

const isTyped = ({ apiVersion, kind }: JsonObject): boolean =>
  typeof apiVersion === "string" && typeof kind === "string";

const joined = (key: string, all: ReadonlyMap<string, string>): string | undefined => {
  const pieces: string[] = [];
  for (let part = 0; ; part += 1) {
    const piece = all.get(`${key}.${part}`);
    if (piece === undefined) return pieces.length === 0 ? undefined : pieces.join("");
    pieces.push(piece);
  }
};
