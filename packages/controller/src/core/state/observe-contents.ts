// Folds reads of the ConfigMaps and Secrets with contents of changes into the observations.
import type { ContentSource, Transaction } from "@janus/api";
import {
  type ApiError,
  deniedVerb,
  type Instant,
  isAbsent,
  type JsonObject,
  type KubeObject,
  messageOf,
} from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { nameOfContents, neededKeys } from "./contents.ts";
import { digestOfContents, MOST_CONTENTS, storedContent, TOO_LARGE } from "./contents-data.ts";
import type { ContentsObservation } from "./contents-observation.ts";
import type { ContentsFault, ContentsFold } from "./fold.ts";
import type { Faults, Folds } from "./folding.ts";
import { type Observations, set } from "./observations.ts";

const sourceAt = ({ resource, name }: ObjectRef): Pick<ContentSource, "kind" | "name"> => ({
  kind: resource.kind === "Secret" ? "Secret" : "ConfigMap",
  name,
});

const withContentsOf = (known: Observations, place: ObjectRef, one: ContentsObservation): Observations => ({
  ...known,
  contents: set(known.contents, nameOfContents(sourceAt(place)), one),
});

const whyUnread = (txn: Transaction, place: ObjectRef, fault: ApiError): string => {
  if (isAbsent(fault)) return `${formatRef(place)} not found: create it, with immutable: true`;
  return deniedVerb(fault) === "get"
    ? `ServiceAccount ${txn.spec.serviceAccountName} may not read ${formatRef(place)}: grant it the verb get on ${place.resource.plural} in namespace ${txn.metadata.namespace}`
    : `${formatRef(place)} cannot be read: ${messageOf(fault)}`;
};

const unavailable = (
  known: Observations,
  txn: Transaction,
  place: ObjectRef,
  fault: ApiError,
  now: Instant,
): Observations => {
  const former = known.contents.get(nameOfContents(sourceAt(place)));
  const since = former?.type === "unavailable" ? former.since : now;
  return withContentsOf(known, place, { type: "unavailable", why: whyUnread(txn, place, fault), since, readAt: now });
};

const weightOf = ({ contents }: Observations): number =>
  [...contents.values()].reduce((sum, one) => sum + (one.type === "read" ? one.weight : 0), 0);

/** Together with what is read already, no more than the Transaction may have. */
const observed = (
  known: Observations,
  place: ObjectRef,
  object: KubeObject,
  keys: ReadonlySet<string>,
): ContentsObservation => {
  if (object["immutable"] !== true)
    return { type: "unusable", why: `${formatRef(place)} may still be edited: set immutable: true` };
  const values = new Map<string, E.Either<string, JsonObject>>();
  const room = MOST_CONTENTS - weightOf(known);
  let weight = 0;
  for (const key of keys) {
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

export const contentsFolds: Folds<ContentsFold> = {
  "contents-read": (known, _, { effect: { call }, answer, at }, { txn }) => {
    const { place } = call;
    return E.isLeft(answer)
      ? unavailable(known, txn, place, answer.left, at)
      : withContentsOf(known, place, observed(known, place, answer.right, neededKeys(txn, sourceAt(place))));
  },
};

export const contentsFaults: Faults<ContentsFault> = {
  "contents-unread": (known, _, { effect, error, at }, { txn }) =>
    "call" in effect ? unavailable(known, txn, effect.call.place, error, at) : known,
};
