import type { Change, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask } from "./effect.ts";
import { type Fault, sentence } from "./fault.ts";
import { asObject } from "./json.ts";
import { type Known, rebuffed, reviewKey, set, type Sighting, unset } from "./known.ts";
import { selfSubjectAccessReviews, serviceAccounts, show } from "./object.ts";
import { dependsOnEarlier } from "./places.ts";
import { type Item, readTarget, writeOf } from "./targets.ts";

/** What rollback does to the target of such a change. */
const UNDO: Readonly<Record<Change["type"], readonly string[]>> = {
  Create: ["delete"],
  Update: ["update"],
  Patch: ["update"],
  // Created again first, and then given back to those who owned its fields.
  Delete: ["create", "update"],
};

/** Looks for the ServiceAccount itself: a token of one that is gone would be refused with a riddle. */
export const readServiceAccount = (txn: Transaction): Ask => ({
  purpose: "read-service-account",
  as: "controller",
  call: {
    verb: "get",
    place: { resource: serviceAccounts, namespace: txn.metadata.namespace, name: txn.spec.serviceAccountName },
  },
  learn: (known, answer) => ({ ...known, serviceAccount: E.isRight(answer) ? "there" : "missing" }),
});

/** Whether the ServiceAccount may do what the rollback of this change needs. */
const review = (txn: Transaction, { index, place }: Item, verb: string): Ask => ({
  purpose: "review",
  item: index,
  as: "serviceAccount",
  call: {
    verb: "create",
    place: { resource: selfSubjectAccessReviews, name: "" },
    manager: "janus",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: {
        resourceAttributes: {
          group: place.resource.group,
          version: place.resource.version,
          resource: place.resource.plural,
          verb,
          ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
          name: place.name,
        },
      },
    },
  },
  learn: (known, answer) => {
    const allowed = E.isRight(answer) && asObject(answer.right["status"])["allowed"] === true;
    const verdict = allowed || dependsOnEarlier(txn, index) ? "allowed" : "denied";
    return { ...known, reviews: set(known.reviews, reviewKey(index, verb), verdict) };
  },
});

const isConflict = (fault: Fault): boolean => fault.kind === "refused" && fault.code === 409;

/** Asks the API server whether it would make the change, without making it. */
const dryRun = (txn: Transaction, item: Item, { object }: Sighting): Ask => ({
  purpose: "dry-run",
  item: item.index,
  as: "serviceAccount",
  dryRun: true,
  call: writeOf(txn, item, object),
  learn: (known, answer, now) => {
    if (E.isRight(answer)) return { ...known, dryRuns: set(known.dryRuns, item.index, []) };
    const fault = answer.left;
    // It has moved since it was read: look again. Unless it has not.
    if (isConflict(fault) && rebuffed(known, item.index, object) === undefined)
      return {
        ...known,
        live: unset(known.live, item.index),
        rebuffs: set(known.rebuffs, item.index, {
          at: now,
          message: sentence(fault),
          resourceVersion: object?.metadata.resourceVersion,
        }),
      };
    const later =
      fault.kind === "refused" && (fault.code === 403 || fault.code === 404) && dependsOnEarlier(txn, item.index);
    const problem = `the API server refuses to ${item.change.type.toLowerCase()} ${show(item.place)}: ${sentence(fault)}`;
    return { ...known, dryRuns: set(known.dryRuns, item.index, later ? [] : [problem]) };
  },
});

/** What stands in the way of a change, as far as the sight of its target tells: one small check each. */
const sights: readonly ((item: Item, seen: Sighting) => string | undefined)[] = [
  ({ change, place }, { object }) =>
    change.type === "Create" && object !== undefined
      ? `${show(place)} exists already: use Update or Patch, or delete it in an earlier Transaction`
      : undefined,
  ({ change, place }, { object }) =>
    change.type !== "Create" && object === undefined
      ? `${show(place)} does not exist: ${change.type === "Delete" ? "take the change out" : "use Create"}`
      : undefined,
  ({ place }, { object }) =>
    object?.metadata.deletionTimestamp === undefined
      ? undefined
      : `${show(place)} is being deleted: wait until it is gone, or take its finalizers off (${(object.metadata.finalizers ?? []).join(", ")})`,
  ({ change, place }, { object }) =>
    object !== undefined &&
    change.resourceVersion !== undefined &&
    change.resourceVersion !== object.metadata.resourceVersion
      ? `${show(place)} is at resourceVersion ${object.metadata.resourceVersion}, and the change is meant for ${change.resourceVersion}: look at what changed, and write the Transaction for the new version`
      : undefined,
];

/** Problems that the sight of the target tells of. */
export const seenProblems = (item: Item, known: Known): readonly string[] => {
  const seen = known.live.get(item.index);
  return seen === undefined ? [] : sights.flatMap((check) => check(item, seen) ?? []);
};

/** The reviews that are still needed to know whether the ServiceAccount could put this change back. */
export const reviews = (txn: Transaction, known: Known, item: Item): readonly Ask[] =>
  UNDO[item.change.type]
    .filter((verb) => !known.reviews.has(reviewKey(item.index, verb)))
    .map((verb) => review(txn, item, verb));

/** The requests that are still needed to know whether this change can be made. */
export const examine = (txn: Transaction, known: Known, item: Item): readonly Ask[] => {
  const seen = known.live.get(item.index);
  if (seen === undefined)
    return [
      readTarget(item, (known, answer) => {
        // What is there has to be kept before the first change is made. Of a Create there is nothing to keep.
        const later = item.change.type === "Create" && dependsOnEarlier(txn, item.index);
        const problem = E.isLeft(answer) ? `${show(item.place)} cannot be read: ${sentence(answer.left)}` : "";
        return {
          ...known,
          live: set(known.live, item.index, { object: undefined, at: known.since }),
          dryRuns: set(known.dryRuns, item.index, later ? [] : [problem]),
        };
      }),
    ];
  const examined = known.dryRuns.has(item.index) || seenProblems(item, known).length > 0;
  return examined ? [] : [dryRun(txn, item, seen)];
};

/** What the ServiceAccount may not do that the rollback of the change needs. */
export const missingRights = (
  { serviceAccountName }: Transaction["spec"],
  item: Item,
  known: Known,
): readonly string[] => {
  const denied = UNDO[item.change.type].filter((verb) => known.reviews.get(reviewKey(item.index, verb)) === "denied");
  const verbs = `the verb${denied.length > 1 ? "s" : ""} ${denied.join(" and ")} on ${item.place.resource.plural}`;
  return denied.length === 0
    ? []
    : [`ServiceAccount ${serviceAccountName} could not put ${show(item.place)} back: grant it ${verbs}`];
};

/** Everything that is in the way of a change. */
export const problems = (txn: Transaction, item: Item, known: Known): readonly string[] => [
  ...(known.dryRuns.get(item.index) ?? seenProblems(item, known)),
  ...missingRights(txn.spec, item, known),
];
