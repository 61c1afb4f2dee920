// Reads contents of changes from ConfigMaps and Secrets, and resolves the changes that refer to them.
import { memoized } from "@janus/types";
import type { Change, ContentSource, ContentsObject, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Instant, JsonObject } from "@janus/types";
import { configMaps, formatRef, type ObjectRef, secrets } from "../kubernetes/kube-object.ts";
import type { ContentsObservation } from "./contents-observation.ts";
import type { ApiCall } from "./effect.ts";
import type { Observations } from "./observations.ts";
import type { ReconcileContext } from "./reconcile-context.ts";

/**
 * How long what cannot be read is waited for, in ms: what is owned by the Transaction can only be created after it, and
 * permissions take a moment to be effective.
 */
const CONTENTS_AWAITED = 10_000;
/** How often it is looked for, in ms. */
const INTERVAL = 250;
/** ConfigMaps and Secrets that are read at the same time: each may have 1 MiB. */
const MOST_READS = 4;

type Reference = Exclude<Change, { readonly type: "Delete" }> & { readonly contentFrom: ContentSource };

const isReference = (change: Change): change is Reference =>
  change.type !== "Delete" && change.contentFrom !== undefined;

/** How observations name a ConfigMap or Secret: `kind/name`. */
export const nameOfContents = ({ kind, name }: Pick<ContentSource, "kind" | "name">): string => `${kind}/${name}`;

/** The keys that are needed, by object. */
const sources = memoized(({ spec }: Transaction): ReadonlyMap<string, readonly [ContentSource, ...ContentSource[]]> => {
  const all = new Map<string, [ContentSource, ...ContentSource[]]>();
  for (const change of spec.changes) {
    if (!isReference(change)) continue;
    const name = nameOfContents(change.contentFrom);
    const others = all.get(name);
    if (others === undefined) all.set(name, [change.contentFrom]);
    else others.push(change.contentFrom);
  }
  return all;
});

/** The keys that changes need of a ConfigMap or Secret. */
export const neededKeys = (txn: Transaction, source: Pick<ContentSource, "kind" | "name">): ReadonlySet<string> =>
  new Set(
    sources(txn)
      .get(nameOfContents(source))
      ?.map(({ key }) => key),
  );

/** The ConfigMaps and Secrets that have contents of it, as `kind/name`. */
export const contentsNames = (txn: Transaction): readonly string[] => [...sources(txn).keys()];

/** Whether contents of it are elsewhere. */
export const hasContents = (txn: Transaction): boolean => sources(txn).size > 0;

/** Whether some of them were not looked for yet. How much memory they take is unknown until then. */
export const hasUnreadContents = (txn: Transaction, { contents }: Observations): boolean =>
  [...sources(txn).keys()].some((name) => !contents.has(name));

const placeOf = ({ metadata }: Transaction, { kind, name }: Pick<ContentSource, "kind" | "name">): ObjectRef => ({
  resource: kind === "Secret" ? secrets : configMaps,
  namespace: metadata.namespace,
  name,
});

const read = (txn: Transaction, source: ContentSource): ApiCall => ({
  purpose: "read-contents",
  as: "serviceAccount",
  call: { verb: "get", place: placeOf(txn, source) },
  folds: [{ type: "contents-read" }],
});

type Found = Extract<ContentsObservation, { readonly type: "read" }>;

const recorded = memoized(
  ({ status: { contents = [] } }: Transaction): ReadonlyMap<string, ContentsObject> =>
    new Map(contents.map((one) => [nameOfContents(one), one])),
);

/** Whether it is the object that was recorded when the Transaction was accepted; before that, any is. */
const isRecorded = (txn: Transaction, source: ContentSource, { uid, digest }: Found): boolean => {
  if (txn.status.phase === "Pending") return true;
  const one = recorded(txn).get(nameOfContents(source));
  return one?.uid === uid && one.digest === digest;
};

/** The content of a change; Left: what is wrong with it. Undefined: it was not found (yet). */
const contentOf = (
  txn: Transaction,
  contents: Observations["contents"],
  source: ContentSource,
): E.Either<string, JsonObject> | undefined => {
  const one = contents.get(nameOfContents(source));
  if (one === undefined || one.type === "unavailable") return undefined;
  if (one.type === "unusable") return E.left(one.why);
  const place = placeOf(txn, source);
  if (!isRecorded(txn, source, one))
    return E.left(
      `${formatRef(place)} is another one, or has other data, than when the Transaction was accepted: create a new Transaction`,
    );
  return E.mapLeft((why: string) => `${source.key} in ${formatRef(place)} ${why}`)(
    one.values.get(source.key) ?? E.left("is missing"),
  );
};

const filled = memoized((txn: Transaction) =>
  memoized((contents: Observations["contents"]): Transaction => {
    const changes = txn.spec.changes.map((change): Change => {
      if (!isReference(change)) return change;
      const content = contentOf(txn, contents, change.contentFrom);
      return content !== undefined && E.isRight(content) ? { ...change, content: content.right } : change;
    });
    return { ...txn, spec: { ...txn.spec, changes } };
  }),
);

/**
 * The Transaction with the contents of its changes that are elsewhere, as far as they were read.
 *
 * Guarantees: once they are recorded in its status, never with those of another object.
 */
export const withContents = (txn: Transaction, { contents }: Observations): Transaction =>
  hasContents(txn) ? filled(txn)(contents) : txn;

/** Why the content of this change cannot be used; undefined if it can, or may be found yet. */
export const unusableContent = (
  { txn, known, now }: Pick<ReconcileContext, "txn" | "known" | "now">,
  index: number,
): string | undefined => {
  const change = txn.spec.changes[index];
  if (change === undefined || !isReference(change)) return undefined;
  const one = known.contents.get(nameOfContents(change.contentFrom));
  if (one?.type === "unavailable") return now < one.since + CONTENTS_AWAITED ? undefined : one.why;
  const content = contentOf(txn, known.contents, change.contentFrom);
  return content !== undefined && E.isLeft(content) ? content.left : undefined;
};

/** Whether the change has its content: it is in the spec, or was read. */
export const hasContent = (txn: Transaction, known: Observations, index: number): boolean => {
  const change = txn.spec.changes[index];
  if (change === undefined || !isReference(change)) return true;
  const content = contentOf(txn, known.contents, change.contentFrom);
  return content !== undefined && E.isRight(content);
};

/**
 * The state of the contents that are elsewhere.
 *
 * wait: some are not there (yet), or must not be read. `problems`: by change, also of what is waited for.
 */
export type ContentsState =
  | { readonly type: "complete" }
  | { readonly type: "requests"; readonly effects: readonly ApiCall[] }
  | {
      readonly type: "wait";
      readonly until: Instant;
      readonly because: string;
      readonly problems: ReadonlyMap<number, readonly string[]>;
    }
  | { readonly type: "unusable"; readonly problems: ReadonlyMap<number, readonly string[]> };

/** Finds what is still needed to know all contents, by now. */
export const contentsState = ({ txn, known, now }: Pick<ReconcileContext, "txn" | "known" | "now">): ContentsState => {
  const unread: ApiCall[] = [];
  const missing: Extract<ContentsObservation, { readonly type: "unavailable" }>[] = [];
  for (const [name, [source]] of sources(txn)) {
    const one = known.contents.get(name);
    const isAwaited = one?.type === "unavailable" && now < one.since + CONTENTS_AWAITED;
    if (one === undefined || (isAwaited && now >= one.readAt + INTERVAL)) unread.push(read(txn, source));
    else if (isAwaited) missing.push(one);
  }
  if (unread.length > 0) return { type: "requests", effects: unread.slice(0, MOST_READS) };
  const later = { txn, known, now: Number.POSITIVE_INFINITY };
  const problems = new Map(
    txn.spec.changes.flatMap((_, index) => {
      const why = unusableContent(later, index);
      return why === undefined ? [] : [[index, [why]] as const];
    }),
  );
  const [first] = missing;
  if (first !== undefined)
    return { type: "wait", until: first.readAt + INTERVAL, because: `waiting for contents: ${first.why}`, problems };
  return problems.size === 0 ? { type: "complete" } : { type: "unusable", problems };
};

/**
 * Reads the contents that were not looked for yet, once: a rollback restores snapshots, and does not depend on them. With them, it tells
 * better what others have taken over since.
 */
export const readContentsOnce = (txn: Transaction, { contents }: Observations): readonly ApiCall[] =>
  [...sources(txn)]
    .filter(([name]) => !contents.has(name))
    .slice(0, MOST_READS)
    .map(([, [source]]) => ({ ...read(txn, source), unanswered: [{ type: "contents-unread" }] }));

/** Observes these contents, by `kind/name` and key, as if read: for a Transaction that is about to be created with them. */
export const contentsRead = (
  contents: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>,
): Observations["contents"] =>
  new Map(
    [...contents].map(([name, values]) => [
      name,
      {
        type: "read",
        uid: "",
        digest: "",
        weight: 0,
        values: new Map([...values].map(([key, content]) => [key, E.right(content)])),
      },
    ]),
  );

/** The record of them that is made before anything else is done. Assumes: they are complete. */
export const contentsObjects = (txn: Transaction, { contents }: Observations): readonly ContentsObject[] =>
  [...sources(txn)].flatMap(([name, [{ kind, name: of }]]) => {
    const one = contents.get(name);
    return one?.type === "read" ? [{ kind, name: of, uid: one.uid, digest: one.digest }] : [];
  });
