// Deletes an object once: the one that was there when the phase began, and no other that is made of its name later.
import { isAbsent, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { nameOf } from "./made-object.ts";
import { inquiryOf, type PhaseContext, type PhaseStep, WATCHED } from "./phase-context.ts";
import { get, type ObjectRef, remove } from "./requests.ts";

const fail = (message: string): PhaseStep => ({ type: "fail", message });

const waitsFor = ({ metadata: { finalizers = [] } }: KubeObject): string =>
  finalizers.length === 0 ? "" : `: it waits for ${finalizers.join(", ")}`;

/** What the phase is to do when the object is gone, or was never there. */
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
  const { ask, missing } = inquiryOf(context);
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
  const deleted = ask(remove("delete-object", "delete", ref, uid, serviceAccount));
  if (deleted === undefined) return { type: "run", effects: missing };
  const isConflict = E.isLeft(deleted) && deleted.left.type === "refused" && deleted.left.code === 409;
  if (E.isLeft(deleted) && isAbsent(deleted.left)) return end;
  if (E.isLeft(deleted) && !isConflict) return fail(`${nameOf(ref)} cannot be deleted: ${messageOf(deleted.left)}`);
  if (E.isRight(deleted) && !waits) return end;
  const now = ask(get("read-object", WATCHED, ref, serviceAccount));
  if (now === undefined) return { type: "run", effects: missing };
  if (E.isLeft(now)) return isAbsent(now.left) ? end : fail(`${nameOf(ref)} cannot be read: ${messageOf(now.left)}`);
  const { resourceVersion, deletionTimestamp, uid: found } = now.right.metadata;
  if (found !== uid) return end;
  if (E.isLeft(deleted) && deletionTimestamp === undefined)
    return fail(`${nameOf(ref)} cannot be deleted: ${messageOf(deleted.left)}`);
  if (!waits) return end;
  return {
    type: "wait",
    until: Number.POSITIVE_INFINITY,
    because: `${nameOf(ref)} is being deleted${waitsFor(now.right)}`,
    watched: [{ ref, resourceVersion }],
  };
};
