// The lifecycles Draft and Proposed: renders the Transaction, records its authors, and deletes expired Drafts.
import { cut, FINALIZER, type Render, type Transaction } from "@janus/api";
import { equal, fromTimestamp, toTimestamp } from "@janus/types";
import { contentDigest } from "../preflight/digest.ts";
import { render, renderedTargets } from "../preflight/render.ts";
import { audit } from "../state/audit.ts";
import { done, run, type Step, wait, type Watched } from "../state/effect.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { expire, updateStatus } from "../state/status-update.ts";
import { discoveries } from "../state/target-resolution.ts";
import { refuseForDraft } from "../transitions/rollback-on-request.ts";
import { refuseRetry } from "../transitions/rollback-retry.ts";
import { pending } from "./pending.ts";

/** Whether it is not to be executed (yet). */
export const isDraft = ({ spec }: Transaction): boolean => spec.lifecycle !== "Published";

const MAX_MESSAGE = 2048;

const WORDS = {
  Create: "to create",
  Change: "to change",
  Delete: "to delete",
  NoChange: "unchanged",
  DependsOnEarlier: "known only after an earlier change",
  Refused: "refused",
} as const;

const countsByResult = ({ changes = [] }: Render): string =>
  Object.entries(WORDS)
    .flatMap(([result, words]) => {
      const count = changes.filter((change) => change.result === result).length;
      return count === 0 ? [] : [`${count} ${words}`];
    })
    .join(", ");

const NEXT = {
  Draft: "propose it (spec.lifecycle: Proposed), or edit it",
  Proposed: "approve it (spec.lifecycle: Published), or set it back to Draft",
  Published: "",
} as const;

/** Says what the Draft would do, and what can be done next. */
const draftMessage = ({ spec: { lifecycle }, status: { render } }: Pick<Transaction, "spec" | "status">): string => {
  if (render === undefined) return "not applied; rendering what it would change";
  const message =
    render.result === "OK"
      ? `not applied: ${countsByResult(render)}; ${NEXT[lifecycle]}`
      : `not applied, and would fail: ${render.message ?? ""}; ${lifecycle === "Draft" ? "edit it" : "set it back to Draft to edit it"}`;
  return cut(message, MAX_MESSAGE);
};

const isReported = ({ spec, status }: Transaction, message: string): boolean =>
  status.conditions.some((one) => one.type === "Ready" && one.reason === spec.lifecycle && one.message === message);

/** Records who has edited or moved it, once, and since when it is as it is. */
const observe = ({ txn, now }: ReconcileContext): Step | undefined => {
  const { metadata, spec, status } = txn;
  if (status.observedDraft?.generation === metadata.generation) return undefined;
  const { render: _, ...unrendered } = status;
  return run(
    updateStatus(
      txn,
      {
        observedDraft: {
          generation: metadata.generation,
          lifecycle: spec.lifecycle,
          content: contentDigest(txn),
          since: toTimestamp(now),
        },
        because: { reason: spec.lifecycle, message: draftMessage({ spec, status: unrendered }) },
      },
      now,
      ...audit(txn, contentDigest),
    ),
  );
};

const expiresAt = ({ spec: { draftTTL }, status: { observedDraft } }: Transaction): number => {
  const since = fromTimestamp(observedDraft?.since);
  return draftTTL === undefined || since === undefined ? Number.POSITIVE_INFINITY : since + draftTTL;
};

const deleteExpired = ({ txn, now }: ReconcileContext): Step | undefined =>
  now < expiresAt(txn) ? undefined : run(expire(txn));

/** The parts of a render that users see; the others change with every render. */
const visiblePart = ({ observedGeneration, result, message, digest, changes }: Omit<Render, "renderedAt">): object => ({
  observedGeneration,
  result,
  message,
  digest,
  changes: changes?.map(({ result, message, diff, more }) => ({ result, message, diff, more })),
});

const rest = ({ txn }: ReconcileContext, watched: readonly Watched[]): Step => ({
  ...wait(expiresAt(txn), `it is ${txn.spec.lifecycle}`),
  rests: watched,
});

/** Whether what is recorded may be out of date. No watch reports when problems are solved. */
const isDue = ({ txn: { metadata, status }, known }: ReconcileContext): boolean =>
  known.targetsChanged === true ||
  status.render?.observedGeneration !== metadata.generation ||
  status.render.result === "Problems";

const renderNow = (context: ReconcileContext): Step => {
  const { txn, now } = context;
  const rendering = render(context);
  if (rendering.type === "requests") return run(...rendering.effects);
  if (rendering.type === "wait") return wait(rendering.until, "waiting for contents");
  const next: Render = {
    ...rendering.render,
    observedGeneration: txn.metadata.generation,
    renderedAt: toTimestamp(now),
  };
  const { render: former } = txn.status;
  const isNew = former === undefined || !equal(visiblePart(former), visiblePart(next));
  const shown = isNew ? next : former;
  const message = draftMessage({ spec: txn.spec, status: { ...txn.status, render: shown } });
  return !isNew && isReported(txn, message)
    ? rest(context, rendering.watched)
    : run(updateStatus(txn, { render: shown, because: { reason: txn.spec.lifecycle, message } }, now));
};

/** Rests on what was rendered before, by this process or another one. */
const restOfRendered = (context: ReconcileContext): Step => {
  const unknown = discoveries(context.txn, context.known);
  return unknown.length > 0 ? run(...unknown) : rest(context, renderedTargets(context));
};

/**
 * A Draft or a proposed Transaction: shows in `status.render` what it would do.
 *
 * Guarantees: nothing is locked and no target is modified; without the finalizer, it is deleted immediately. A render is of the
 *             generation that it names, since it is written only to the version that was read. What is the same as before
 *             is not written again, and a Draft that rests costs neither requests nor memory.
 */
export const draft = (context: ReconcileContext): Step => {
  const { finalizers = [], deletionTimestamp } = context.txn.metadata;
  // Another client has added the finalizer: its deletion must not hang on us.
  if (deletionTimestamp !== undefined) return finalizers.includes(FINALIZER) ? pending(context) : done;
  const first = observe(context) ?? deleteExpired(context) ?? refuseForDraft(context) ?? refuseRetry(context);
  return first ?? (isDue(context) ? renderNow(context) : restOfRendered(context));
};
