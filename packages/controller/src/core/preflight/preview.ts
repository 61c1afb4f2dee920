import type { ResolvedChange } from "@janus/api";
import { isRight } from "fp-ts/lib/Either.js";
import type { KubeObject } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { ApiCall, Effect } from "../state/effect.ts";
import { changeIn, withChange } from "../state/observations.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { type Item, itemsOf } from "../state/resolved-changes.ts";
import { discoveries } from "../state/target-resolution.ts";
import { firstLooks } from "./first-look.ts";
import { irreversibleProblems } from "./irreversible-changes.ts";
import { reviews } from "./permissions.ts";
import { examine, problems, readServiceAccount } from "./preflight.ts";
import { specProblems } from "./spec-problems.ts";

/** What a change would do to its target as it is now. */
export interface ChangePreview {
  readonly index: number;
  readonly place: ObjectRef;
  /** What an Apply is, too. */
  readonly type: ResolvedChange["type"];
  /** Absent: there is none, or it cannot be read. */
  readonly before?: KubeObject;
  /** The object as the API server would store it. Absent for a Delete, and where an earlier change has to come first. */
  readonly after?: KubeObject;
  /** Why it would fail. */
  readonly problems: readonly string[];
}

export type Preview =
  | { readonly type: "requests"; readonly effects: readonly Effect[] }
  | {
      readonly type: "previewed";
      readonly changes: readonly ChangePreview[];
      /** Problems of the Transaction as a whole. */
      readonly general: readonly string[];
    };

/** Reads and dry runs at the same time. */
const MOST = 16;

/** A dry run of which the result is kept. */
const keeping = (request: ApiCall): ApiCall => {
  const { item, purpose } = request;
  if (purpose !== "dry-run" || item === undefined) return request;
  return {
    ...request,
    onAnswer: (known, answer, ...rest) => {
      const after = request.onAnswer(known, answer, ...rest);
      return isRight(answer) ? withChange(after, item, { dryRun: answer.right }) : after;
    },
  };
};

const requests = (...effects: readonly Effect[]): Preview => ({ type: "requests", effects: effects.slice(0, MOST) });

const previewOf = (
  { known }: ReconcileContext,
  { index, place, change: { type } }: Item,
  found: readonly string[],
): ChangePreview => {
  const { target, dryRun } = changeIn(known, index);
  return {
    index,
    place,
    type,
    ...(target?.object === undefined ? {} : { before: target.object }),
    ...(dryRun === undefined || type === "Delete" ? {} : { after: dryRun }),
    problems: found,
  };
};

/**
 * What a Transaction would do, and everything for which it would fail before its first change: the checks of the
 * phases Pending and Preparing, without locks, without snapshots, and without a Transaction in the cluster.
 *
 * Guarantees: reads and dry runs only, all but the discovery of kinds and the ServiceAccount as the ServiceAccount.
 *             Each change is compared with its target as it is now: what an earlier change brings is not there yet.
 */
export const preview = (context: ReconcileContext): Preview => {
  const { txn, known } = context;
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return requests(...unknown);
  const { general, problems: wrong } = specProblems(txn, known);
  const previewed = (of: (item: Item) => readonly string[], more: readonly string[] = []): Preview => ({
    type: "previewed",
    changes: itemsOf(txn, known).map((item) => previewOf(context, item, of(item))),
    general: [...general, ...more, ...unplaced(context, wrong)],
  });
  if (general.length > 0 || wrong.size > 0) return previewed(({ index }) => wrong.get(index) ?? []);
  if (known.serviceAccount === undefined) return requests(readServiceAccount(txn));
  if (known.serviceAccount === "missing")
    return previewed(
      () => [],
      [`ServiceAccount ${txn.spec.serviceAccountName} does not exist in ${txn.metadata.namespace}: create it`],
    );
  const looks = firstLooks(txn, known);
  if (looks.length > 0) return requests(...looks);
  const items = itemsOf(txn, known);
  const needed = [...reviews(items, known), ...items.flatMap((item) => examine(txn, known, item)).map(keeping)];
  if (needed.length > 0) return requests(...needed);
  const misplaced = irreversibleProblems(txn, known);
  return previewed((item) => [...problems(txn, item, known), ...misplaced(item)]);
};

/** Problems of changes whose target cannot be located. */
const unplaced = (
  { txn, known }: ReconcileContext,
  wrong: ReadonlyMap<number, readonly string[]>,
): readonly string[] => {
  const placed = new Set(itemsOf(txn, known).map(({ index }) => index));
  return [...wrong].flatMap(([index, found]) =>
    placed.has(index) ? [] : found.map((problem) => `changes[${index}]: ${problem}`),
  );
};
