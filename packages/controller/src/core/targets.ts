import { type Change, fieldManager, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { changeBody, createBody } from "./body.ts";
import type { Ask, Call } from "./effect.ts";
import { type Known, set, unset } from "./known.ts";
import type { KubeObject, Place } from "./object.ts";
import { locate } from "./places.ts";

export interface Item {
  readonly index: number;
  readonly change: Change;
  readonly place: Place;
}

/** All changes whose target has a place. */
export const itemsOf = (txn: Transaction, known: Known): readonly Item[] =>
  txn.spec.changes.flatMap((change, index) => {
    const place = locate(txn, known, index);
    return E.isRight(place) ? [{ index, change, place: place.right }] : [];
  });

/** Reads a target as the ServiceAccount. `refused`: what it means that the read itself was refused. */
export const readTarget = ({ index, place }: Item, refused: Ask["learn"] = (known) => known): Ask => ({
  purpose: "read-target",
  item: index,
  as: "serviceAccount",
  call: { verb: "get", place },
  learn: (known, answer, now, sent) => {
    if (E.isRight(answer)) return { ...known, live: set(known.live, index, { object: answer.right, at: sent }) };
    if (answer.left.kind === "refused" && answer.left.code === 404)
      return { ...known, live: set(known.live, index, { object: undefined, at: sent }) };
    return refused(known, answer, now, sent);
  },
  lost: (known) => ({ ...known, live: unset(known.live, index) }),
});

/**
 * The write that makes a change, conditional on what it was decided on.
 *
 * `before` is the target as it was read; absent for a Create. A Delete and a Patch need only its uid and resourceVersion.
 */
export const writeOf = (txn: Transaction, { change, place }: Item, before: KubeObject | undefined): Call => {
  const manager = fieldManager(txn.metadata);
  if (change.type === "Create" || before === undefined)
    return { verb: "create", place, body: createBody(change, place, txn.metadata), manager };
  switch (change.type) {
    case "Update":
      return { verb: "update", place, body: changeBody(change, place, before, txn.metadata), manager };
    case "Patch":
      return { verb: "apply", place, body: changeBody(change, place, before, txn.metadata), manager };
    case "Delete":
      return {
        verb: "delete",
        place,
        preconditions: {
          uid: before.metadata.uid ?? "",
          resourceVersion: before.metadata.resourceVersion ?? "",
        },
      };
  }
};
