import { REQUEST_ROLLBACK } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask } from "./effect.ts";
import { isAbsent } from "./fault.ts";
import { namespaces } from "./object.ts";
import { LOOK_AGAIN, type Situation } from "./situation.ts";

/** What the people around a Transaction under way want of it. */
export type Leaving =
  | { readonly at: "staying" }
  /** It has to be found out whether its namespace is being deleted. */
  | { readonly at: "asking"; readonly effect: Ask }
  | { readonly at: "release"; readonly why: string }
  | { readonly at: "rollback"; readonly why: string };

/** Is it being deleted? */
export const readNamespace = ({ txn }: Situation): Ask => ({
  purpose: "read-namespace",
  as: "controller",
  call: { verb: "get", place: { resource: namespaces, name: txn.metadata.namespace } },
  learn: (known, answer, now) => ({
    ...known,
    // One of which that is not known counts as staying: what its people want is done as long as it can be.
    namespace: {
      isGoing: E.isLeft(answer) ? isAbsent(answer.left) : answer.right.metadata.deletionTimestamp !== undefined,
      looked: now,
    },
  }),
});

/** Deleting it releases it, or rolls it back first; in a namespace that is being deleted nothing is waited for. */
export const leaving = (situation: Situation): Leaving => {
  const { txn, known, now } = situation;
  const { deletionTimestamp, annotations } = txn.metadata;
  if (deletionTimestamp !== undefined) {
    if (txn.spec.deletionPolicy === "Release") return { at: "release", why: "the Transaction was deleted" };
    const { namespace } = known;
    if (namespace?.isGoing) return { at: "release", why: "the namespace is being deleted" };
    // It may be deleted in the middle of the rollback.
    return namespace === undefined || now >= namespace.looked + LOOK_AGAIN
      ? { at: "asking", effect: readNamespace(situation) }
      : { at: "rollback", why: "the Transaction was deleted, and its deletionPolicy is Rollback" };
  }
  return annotations?.[REQUEST_ROLLBACK] === undefined
    ? { at: "staying" }
    : { at: "rollback", why: `the annotation ${REQUEST_ROLLBACK} asks for it` };
};
