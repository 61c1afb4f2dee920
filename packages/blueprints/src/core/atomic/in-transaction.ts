// Makes the changes of a phase in a Transaction, and waits until it is Committed.
import { report, Spec } from "@janus/api";
import { isAbsent, type JsonObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { madeObject, nameOf } from "../made-object.ts";
import { inquiryOf, madeBy, type PhaseContext, type PhaseStep, WATCHED } from "../phase-context.ts";
import type { Effect } from "../effect.ts";
import { get, patch } from "../requests.ts";
import {
  progressOf,
  TRANSACTION,
  transactionOf,
  transactionRef,
  transactionSpec,
  transactionUid,
} from "./transaction.ts";
import { written } from "./write-transaction.ts";

const fail = (message: string): PhaseStep => ({ type: "fail", message });

/**
 * Decides what is next. Undefined: the Transaction is Committed.
 *
 * Guarantees: nothing is changed before the uid of the Transaction is in the journal: until then it is a Draft, also one whose
 *             creation was given up and comes late.
 * Errors:     the changes cannot be said in a Transaction, or it is refused, rolled back, or deleted by somebody.
 */
export const inTransaction = (context: PhaseContext, changes: readonly JsonObject[]): PhaseStep | undefined => {
  const { actionSet, remembered, serviceAccount } = context;
  const ref = transactionRef(actionSet.metadata.namespace, madeBy(context));
  const inquiry = inquiryOf(context);
  const run: PhaseStep = { type: "run", effects: inquiry.missing };
  const uid = transactionUid(remembered);
  if (uid === undefined) {
    const spec = transactionSpec(context, changes);
    const decoded = Spec.decode(spec);
    if (E.isLeft(decoded)) return fail(`no Transaction can do that: ${report(decoded.left)}`);
    const made = madeObject(inquiry, context, "transaction", ref, transactionOf(actionSet.metadata.uid, spec));
    if (made === undefined) return run;
    return E.isLeft(made)
      ? fail(made.left)
      : { type: "remember", remembered: { ...remembered, [TRANSACTION]: made.right.metadata.uid ?? "" } };
  }
  const read = (fact: string): Effect => get("read-transaction", fact, ref, serviceAccount);
  const publication = { metadata: { uid }, spec: { lifecycle: "Published" } };
  const publish = (fact: string): Effect => patch("publish", fact, "mergePatch", ref, publication, serviceAccount);
  const published = written(inquiry.ask, "publish", { write: publish, read }, ({ metadata }) => metadata.uid === uid);
  if (published === undefined) return run;
  if (published !== "moved" && E.isLeft(published))
    return fail(`${nameOf(ref)} cannot be published: ${messageOf(published.left)}`);
  const there = inquiry.ask(read(`transaction/${WATCHED}`));
  if (there === undefined) return run;
  if (E.isLeft(there) && !isAbsent(there.left)) return fail(`${nameOf(ref)} cannot be read: ${messageOf(there.left)}`);
  if (E.isLeft(there) || there.right.metadata.uid !== uid)
    return fail(`${nameOf(ref)} is gone: somebody has deleted it`);
  const progress = progressOf(there.right);
  switch (progress.type) {
    case "committed":
    case "final":
      return undefined;
    case "rolled-back":
    case "unchanged":
      return fail(`${nameOf(ref)}: ${progress.cause}`);
    case "incomplete":
      return fail(`${nameOf(ref)}: ${progress.cause}; ${progress.message}`);
    case "draft":
    case "active":
    case "rolling-back":
      return {
        type: "wait",
        until: Number.POSITIVE_INFINITY,
        because: `${nameOf(ref)} is not Committed${progress.type === "draft" ? "" : `: ${progress.message}`}`,
        watched: [{ ref, resourceVersion: there.right.metadata.resourceVersion }],
      };
  }
};
