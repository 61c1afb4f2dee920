// Runs all checks of Pending and Preparing without locks and snapshots, for renders and previews.
import { discoveries } from "../state/target-resolution.ts";
import type { ApiCall, Effect } from "../state/effect.ts";
import type { Observations } from "../state/observations.ts";
import type { Instant } from "@janus/types";
import { contentsState, hasContents } from "../state/contents.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { firstLooks } from "./first-look.ts";
import { lostWithReplaced, tooEarly } from "./irreversible-changes.ts";
import { kindsOfOwners } from "./missing-owners.ts";
import { reviews } from "./permissions.ts";
import { problems, readServiceAccount } from "./preflight.ts";
import { specProblems } from "./spec-problems.ts";

/** Requests of a kind that are sent at the same time. */
const MOST = 16;

export type Examined =
  | { readonly type: "requests"; readonly effects: readonly Effect[] }
  /** Contents are not there yet: by change, what is wrong if they do not come. */
  | { readonly type: "wait"; readonly until: Instant; readonly problems: ReadonlyMap<number, readonly string[]> }
  /** Something is wrong with the Transaction as a whole, so that no change was tried. */
  | {
      readonly type: "untried";
      readonly general: readonly string[];
      readonly problems: ReadonlyMap<number, readonly string[]>;
    }
  /** Each change was tried, unless its spec is wrong already. */
  | {
      readonly type: "tried";
      readonly problems: (index: number) => readonly string[];
      /** Answers as {@link tooEarly}: no problem of the change itself. */
      readonly tooEarly: (index: number) => string | undefined;
    };

const requests = (effects: readonly Effect[]): Examined => ({ type: "requests", effects });

/**
 * Everything for which a Transaction would fail before its first change: the checks of the phases Pending and Preparing,
 * without locks and snapshots.
 *
 * Guarantees: reads and dry runs only, all but the discovery of kinds and the ServiceAccount as the ServiceAccount.
 * Assumes:    the Transaction has its contents, as far as they were read (`withContents`).
 *
 * @param examining the requests of some changes that are still needed
 */
export const examined = (
  context: ReconcileContext,
  examining: (known: Observations, items: readonly ResolvedItem[]) => readonly ApiCall[],
): Examined => {
  const { txn, known } = context;
  if (known.serviceAccount === undefined && hasContents(txn)) return requests([readServiceAccount(txn)]);
  const contents = known.serviceAccount === "missing" ? undefined : contentsState(context);
  if (contents?.type === "requests") return requests(contents.effects);
  if (contents?.type === "wait") return contents;
  if (contents?.type === "unusable") return { type: "untried", general: [], problems: contents.problems };
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return requests(unknown.slice(0, MOST));
  const wrong = specProblems(txn, known);
  if (wrong.general.length > 0) return { type: "untried", ...wrong };
  if (known.serviceAccount === undefined) return requests([readServiceAccount(txn)]);
  if (known.serviceAccount === "missing")
    return {
      type: "untried",
      general: [`ServiceAccount ${txn.spec.serviceAccountName} does not exist in ${txn.metadata.namespace}: create it`],
      problems: wrong.problems,
    };
  const looks = firstLooks(txn, known);
  if (looks.length > 0) return requests(looks);
  const items = itemsOf(txn, known).filter(({ index }) => !wrong.problems.has(index));
  const permitted = reviews(items, known);
  if (permitted.length > 0) return requests(permitted.slice(0, MOST));
  const kinds = kindsOfOwners(txn, known);
  if (kinds.length > 0) return requests(kinds.slice(0, MOST));
  const needed = examining(known, items);
  if (needed.length > 0) return requests(needed);
  const tried = new Map(items.map((item) => [item.index, item]));
  const lasting = tooEarly(txn, known);
  const of = <A>(index: number, ask: (item: ResolvedItem) => A): A | undefined => {
    const item = tried.get(index);
    return item === undefined ? undefined : ask(item);
  };
  return {
    type: "tried",
    problems: (index) =>
      wrong.problems.get(index) ??
      of(index, (item) => [...problems(txn, item, known), ...lostWithReplaced(txn, known, item)]) ??
      [],
    tooEarly: (index) => of(index, lasting),
  };
};
