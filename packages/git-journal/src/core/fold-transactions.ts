// Folds what is known of Transactions into the state of a branch.
import { groupOf, type Target, type Transaction } from "@janus/api";
import type { Instant } from "@janus/types";
import { mapped } from "./branch-changes.ts";
import type { SeenFile } from "./branch-event.ts";
import type { BranchState, KnownTransaction, TargetPlace } from "./branch-state.ts";
import { seen } from "./fold-objects.ts";
import { UNKNOWN } from "./history.ts";
import { type FilePath, objectPath } from "./path.ts";
import { rulesAbout } from "./selection.ts";
import { journaledTransaction, type JournaledTransaction } from "./transactions.ts";

const placeOf = (
  { destinations, settings }: BranchState,
  { apiVersion, kind, name, namespace }: Target,
): readonly (TargetPlace & { readonly path: FilePath })[] =>
  [...destinations.values()].flatMap(({ wanted: { destination, selected, rules, isBlocked } }) =>
    (isBlocked ? [] : selected)
      .filter((one) => one.kind === kind && one.group === groupOf(apiVersion))
      .flatMap((resource) => {
        const place = resource.namespaced && namespace !== undefined ? { namespace } : {};
        if (rulesAbout(rules, { ...resource, ...place }, settings).length === 0) return [];
        const { group, version, plural } = resource;
        const path = objectPath(destination.folder, { group, version, resource: plural, ...place, name });
        return [{ destination: destination.name, resource, ...place, name, path }];
      }),
  );

export const known = (state: BranchState, transaction: Transaction, now: Instant): BranchState => {
  const places = new Map<FilePath, TargetPlace>();
  // An object may have a file in several destinations of the branch.
  const parts = [...state.destinations.keys()].map((name) =>
    journaledTransaction(transaction, (target) => {
      const place = placeOf(state, target).find(({ destination }) => destination === name);
      if (place !== undefined) places.set(place.path, place);
      return place?.path;
    }),
  );
  const [first] = parts;
  if (first === undefined) return state;
  const journaled: JournaledTransaction = { ...first, targets: parts.flatMap(({ targets }) => targets) };
  const before = state.transactions.get(journaled.uid);
  if (journaled.targets.length === 0 && before === undefined) return state;
  const isSamePhase = before?.transaction.phase === journaled.phase;
  const isTerminal = ["Committed", "RolledBack", "Failed"].includes(journaled.phase);
  const next: KnownTransaction = {
    transaction: journaled,
    places,
    evidence: isSamePhase && before !== undefined ? before.evidence : { since: now, shown: new Set(), isGone: false },
    // A Transaction that has ended before the objects are listed holds nothing: the list has all of it.
    isDone: isSamePhase && before !== undefined ? before.isDone : isTerminal && !state.areTransactionsKnown,
  };
  return { ...state, transactions: new Map(state.transactions).set(journaled.uid, next) };
};

/** Takes note that a Transaction is gone: what it has changed is committed now, whatever was seen of it. */
export const withoutTransaction = (state: BranchState, uid: string): BranchState => {
  const transactions = new Map(state.transactions);
  const one = transactions.get(uid);
  if (one === undefined) return state;
  if (one.isDone) transactions.delete(uid);
  else transactions.set(uid, { ...one, evidence: { ...one.evidence, isGone: true } });
  return { ...state, transactions };
};

export const targetRead = (state: BranchState, uid: string, file: SeenFile, now: Instant): BranchState => {
  const next = seen(state, file, UNKNOWN, now);
  return {
    ...next,
    transactions: mapped(next.transactions, uid, (one) => ({
      ...one,
      evidence: { ...one.evidence, shown: new Set([...one.evidence.shown, file.path]) },
    })),
  };
};
