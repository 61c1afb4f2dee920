// Deletes an object once: the one that was there when the phase began, and no other that is made of its name later.
import { isAbsent, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { nameOf } from "./made-object.ts";
import { inquiryOf, type PhaseContext, type PhaseStep, WATCHED } from "./phase-context.ts";
import { get, type Inquiry, type ObjectRef, remove } from "./requests.ts";

const fail = (message: string): PhaseStep => ({ type: "fail", message });

const waitsFor = ({ metadata: { finalizers = [] } }: KubeObject): string =>
  finalizers.length === 0 ? "" : `: it waits for ${finalizers.join(", ")}`;

/** The most tries of a deletion that meets a conflict although the object is the one to be deleted. */
const TRIES = 3;

/** Tells whether this object is gone, or is being deleted, once that was asked for. Left: why it is not. Undefined: still to be asked for. */
const deletion = (
  inquiry: Inquiry,
  context: PhaseContext,
  ref: ObjectRef,
  uid: string,
  tried = 0,
): E.Either<string, "gone" | "asked"> | undefined => {
  const { ask } = inquiry;
  const { serviceAccount } = context;
  const deleted = ask(remove("delete-object", `delete/${tried}`, ref, uid, serviceAccount));
  if (deleted === undefined) return undefined;
  if (E.isRight(deleted)) return E.right("asked");
  if (isAbsent(deleted.left)) return E.right("gone");
  const refusal = E.left(`${nameOf(ref)} cannot be deleted: ${messageOf(deleted.left)}`);
  if (deleted.left.type !== "refused" || deleted.left.code !== 409) return refusal;
  const there = ask(get("read-object", `conflict/${tried}`, ref, serviceAccount));
  if (there === undefined) return undefined;
  if (E.isLeft(there))
    return isAbsent(there.left) ? E.right("gone") : E.left(`${nameOf(ref)} cannot be read: ${messageOf(there.left)}`);
  const { uid: found, deletionTimestamp } = there.right.metadata;
  if (found !== uid) return E.right("gone");
  if (deletionTimestamp !== undefined) return E.right("asked");
  return tried + 1 < TRIES ? deletion(inquiry, context, ref, uid, tried + 1) : refusal;
};

/** Says what the phase is to do when the object is gone, or was never there. */
export interface Deletion {
  readonly absent: "end" | "fail";
  /** Whether it waits until the object is gone. */
  readonly waits: boolean;
  readonly output: Readonly<Record<string, string>>;
}

/**
 * Guarantees: the uid of what is deleted is in the journal first, so that nothing that came later is deleted after a restart.
 * Errors:     it is not there, unless that is as good; it may not be read or deleted.
 */
export const deleteObject = (context: PhaseContext, ref: ObjectRef, { absent, waits, output }: Deletion): PhaseStep => {
  const { remembered, serviceAccount } = context;
  const inquiry = inquiryOf(context);
  const { ask, missing } = inquiry;
  const end: PhaseStep = { type: "end", output };
  const uid = remembered["uid"];
  if (typeof uid !== "string") {
    const there = ask(get("read-object", "before", ref, serviceAccount));
    if (there === undefined) return { type: "run", effects: missing };
    if (E.isRight(there))
      return { type: "remember", remembered: { ...remembered, uid: there.right.metadata.uid ?? "" } };
    if (!isAbsent(there.left)) return fail(`${nameOf(ref)} cannot be read: ${messageOf(there.left)}`);
    return absent === "end" ? end : fail(`${nameOf(ref)} not found`);
  }
  const fate = deletion(inquiry, context, ref, uid);
  if (fate === undefined) return { type: "run", effects: missing };
  if (E.isLeft(fate)) return fail(fate.left);
  if (fate.right === "gone" || !waits) return end;
  const now = ask(get("read-object", WATCHED, ref, serviceAccount));
  if (now === undefined) return { type: "run", effects: missing };
  if (E.isLeft(now)) return isAbsent(now.left) ? end : fail(`${nameOf(ref)} cannot be read: ${messageOf(now.left)}`);
  if (now.right.metadata.uid !== uid) return end;
  return {
    type: "wait",
    until: Number.POSITIVE_INFINITY,
    because: `${nameOf(ref)} is being deleted${waitsFor(now.right)}`,
    watched: [{ ref, resourceVersion: now.right.metadata.resourceVersion }],
  };
};
