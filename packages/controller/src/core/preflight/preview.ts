// Computes what a Transaction would do without creating it, for kubectl janus plan.
import type { ResolvedChange } from "@janus/api";
import type { KubeObject } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { Effect } from "../state/effect.ts";
import { withContents } from "../state/contents.ts";
import { changeIn, trialIn } from "../state/observations.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { examined } from "./examined.ts";
import { examine } from "./preflight.ts";

/** The effect that a change would have on its target as it is now. */
export interface ChangePreview {
  readonly index: number;
  readonly place: ObjectRef;
  /** The resolved type, of an Apply too. */
  readonly type: ResolvedChange["type"];
  /** Absent: there is none, or it cannot be read. */
  readonly before?: KubeObject;
  /** The object as the API server would store it. Absent for a Delete, and where an earlier change has to come first. */
  readonly after?: KubeObject;
  /** Why it would fail. */
  readonly problems: readonly string[];
  /** Names what it does that cannot be undone, if it would fail since it is not at the end of the list. */
  readonly tooEarly?: string;
}

/** A change whose target cannot be located, for example because its kind is not served. */
export interface UnplacedChange {
  readonly index: number;
  readonly problems: readonly string[];
}

export type Preview =
  | { readonly type: "requests"; readonly effects: readonly Effect[] }
  | {
      readonly type: "previewed";
      readonly changes: readonly ChangePreview[];
      readonly unplaced: readonly UnplacedChange[];
      /** Whether the changes were tried; otherwise something is wrong before that. */
      readonly isTried: boolean;
      /** Problems of the Transaction as a whole. */
      readonly general: readonly string[];
    };

/** Reads and dry runs at the same time. */
const MOST = 16;

const previewOf = (
  { known }: ReconcileContext,
  { index, place, change: { type } }: ResolvedItem,
  found: Pick<ChangePreview, "problems" | "tooEarly">,
): ChangePreview => {
  const { target } = changeIn(known, index);
  const after = trialIn(known, index)?.object;
  return {
    index,
    place,
    type,
    ...(target?.object === undefined ? {} : { before: target.object }),
    ...(after === undefined || type === "Delete" ? {} : { after }),
    ...found,
  };
};

/**
 * Previews what a Transaction would do, and everything for which it would fail before its first change, without a Transaction in
 * the cluster; see {@link examined}.
 *
 * Guarantees: each change is compared with its target as it is now: what an earlier change brings is not there yet.
 */
export const preview = (seenContext: ReconcileContext): Preview => {
  const context = { ...seenContext, txn: withContents(seenContext.txn, seenContext.known) };
  const { txn, known } = context;
  const seen = examined(context, (known, items) =>
    items.flatMap((item) => examine(txn, known, item, "object")).slice(0, MOST),
  );
  if (seen.type === "requests") return seen;
  const isTried = seen.type === "tried";
  const problemsOf = (index: number): readonly string[] =>
    isTried ? seen.problems(index) : (seen.problems.get(index) ?? []);
  const earlyOf = (index: number): Pick<ChangePreview, "tooEarly"> => {
    const what = isTried ? seen.tooEarly(index) : undefined;
    return what === undefined ? {} : { tooEarly: what };
  };
  const items = itemsOf(txn, known);
  const placed = new Set(items.map(({ index }) => index));
  return {
    type: "previewed",
    changes: items.map((item) =>
      previewOf(context, item, { problems: problemsOf(item.index), ...earlyOf(item.index) }),
    ),
    unplaced: txn.spec.changes.flatMap((_, index) =>
      placed.has(index) ? [] : [{ index, problems: problemsOf(index) }],
    ),
    isTried,
    general: seen.type === "untried" ? seen.general : [],
  };
};
