// Reads contents of changes from ConfigMaps and Secrets, and resolves the changes that refer to them.
import type { Change, ContentSource, ContentsObject, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiError,
  type JsonObject,
  type KubeObject,
  deniedVerb,
  isAbsent,
  messageOf,
  type Instant,
} from "@janus/types";
import { configMaps, formatRef, type ObjectRef, secrets } from "../kubernetes/kube-object.ts";
import { memoized } from "../kubernetes/memoize.ts";
import { digestOfContents, MOST_CONTENTS, storedContent, TOO_LARGE } from "./contents-data.ts";
import type { ContentsObservation } from "./contents-observation.ts";
import type { ApiCall } from "./effect.ts";
import { type Observations, set } from "./observations.ts";
import type { ReconcileContext } from "./reconcile-context.ts";

/**
 * How long what cannot be read is waited for, in ms: what is owned by the Transaction can only be created after it, and
 * permissions take a moment to be effective.
 */
const PATIENCE = 10_000;
/** How often it is looked for, in ms. */
const INTERVAL = 250;
/** ConfigMaps and Secrets that are read at the same time: each may have 1 MiB. */
const MOST_READS = 4;

type Reference = Exclude<Change, { readonly type: "Delete" }> & { readonly contentFrom: ContentSource };

const isReference = (change: Change): change is Reference =>
  change.type !== "Delete" && change.contentFrom !== undefined;

const nameOf = ({ kind, name }: Pick<ContentSource, "kind" | "name">): string => `${kind}/${name}`;

/** The keys that are needed, by object. */
const sources = memoized(({ spec }: Transaction): ReadonlyMap<string, readonly [ContentSource, ...ContentSource[]]> => {
  const all = new Map<string, [ContentSource, ...ContentSource[]]>();
  for (const change of spec.changes) {
    if (!isReference(change)) continue;
    const name = nameOf(change.contentFrom);
    const others = all.get(name);
    if (others === undefined) all.set(name, [change.contentFrom]);
    else others.push(change.contentFrom);
  }
  return all;
});

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

const whyUnread = (txn: Transaction, place: ObjectRef, fault: ApiError): string => {
  if (isAbsent(fault)) return `${formatRef(place)} not found: create it, with immutable: true`;
  return deniedVerb(fault) === "get"
    ? `ServiceAccount ${txn.spec.serviceAccountName} may not read ${formatRef(place)}: grant it the verb get on ${place.resource.plural} in namespace ${txn.metadata.namespace}`
    : `${formatRef(place)} cannot be read: ${messageOf(fault)}`;
};

const weightOf = ({ contents }: Observations): number =>
  [...contents.values()].reduce((sum, one) => sum + (one.type === "read" ? one.weight : 0), 0);

/** Together with what is read already, no more than the Transaction may have. */
const observed = (
  known: Observations,
  place: ObjectRef,
  object: KubeObject,
  needed: readonly ContentSource[],
): ContentsObservation => {
  if (object["immutable"] !== true)
    return { type: "unusable", why: `${formatRef(place)} may still be edited: set immutable: true` };
  const values = new Map<string, E.Either<string, JsonObject>>();
  const room = MOST_CONTENTS - weightOf(known);
  let weight = 0;
  for (const key of new Set(needed.map(({ key }) => key))) {
    const stored = storedContent(object, key, room - weight);
    weight += stored.weight;
    // Nothing more is looked at: each could take as long to decompress, and be as wrong.
    if (weight > room)
      return {
        type: "unusable",
        why:
          stored.weight > MOST_CONTENTS
            ? `${key} in ${formatRef(place)} ${TOO_LARGE}`
            : `the contents of the Transaction are larger than ${MOST_CONTENTS / 2 ** 20} MiB together: split it into smaller Transactions`,
      };
    values.set(key, stored.content);
  }
  return { type: "read", uid: object.metadata.uid ?? "", digest: digestOfContents(object), weight, values };
};

const read = (txn: Transaction, needed: readonly [ContentSource, ...ContentSource[]]): ApiCall => {
  const place = placeOf(txn, needed[0]);
  const name = nameOf(needed[0]);
  const found = (known: Observations, one: ContentsObservation): Observations => ({
    ...known,
    contents: set(known.contents, name, one),
  });
  const unavailable = (known: Observations, fault: ApiError, now: Instant): Observations => {
    const former = known.contents.get(name);
    const since = former?.type === "unavailable" ? former.since : now;
    return found(known, { type: "unavailable", why: whyUnread(txn, place, fault), since, readAt: now });
  };
  return {
    purpose: "read-contents",
    as: "serviceAccount",
    call: { verb: "get", place },
    folds: [
      (known, answer, now) =>
        E.isLeft(answer)
          ? unavailable(known, answer.left, now)
          : found(known, observed(known, place, answer.right, needed)),
    ],
  };
};

type Found = Extract<ContentsObservation, { readonly type: "read" }>;

const recorded = memoized(
  ({ status: { contents = [] } }: Transaction): ReadonlyMap<string, ContentsObject> =>
    new Map(contents.map((one) => [nameOf(one), one])),
);

/** Whether it is the object that was recorded when the Transaction was accepted; before that, any is. */
const isRecorded = (txn: Transaction, source: ContentSource, { uid, digest }: Found): boolean => {
  if (txn.status.phase === "Pending") return true;
  const one = recorded(txn).get(nameOf(source));
  return one?.uid === uid && one.digest === digest;
};

/** The content of a change; Left: what is wrong with it. Undefined: it was not found (yet). */
const contentOf = (
  txn: Transaction,
  contents: Observations["contents"],
  source: ContentSource,
): E.Either<string, JsonObject> | undefined => {
  const one = contents.get(nameOf(source));
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
  const one = known.contents.get(nameOf(change.contentFrom));
  if (one?.type === "unavailable") return now < one.since + PATIENCE ? undefined : one.why;
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
  for (const [name, needed] of sources(txn)) {
    const one = known.contents.get(name);
    const isAwaited = one?.type === "unavailable" && now < one.since + PATIENCE;
    if (one === undefined || (isAwaited && now >= one.readAt + INTERVAL)) unread.push(read(txn, needed));
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
    .map(([, needed]) => {
      const reading = read(txn, needed);
      return { ...reading, unanswered: [(known, fault, _, inner) => inner(known, reading.folds, E.left(fault))] };
    });

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
