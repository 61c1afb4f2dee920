// Checks whether the ServiceAccount may watch the targets that have gates.
import type { Transaction } from "@janus/api";
import { gatesOf } from "../gates/gates-of.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ApiCall } from "../state/effect.ts";
import { type Observations, preflightIn } from "../state/observations.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { reviewOfAll } from "./permissions.ts";

const WATCH = "watch";

/** The changes with gates; not those that an earlier change may bring the permission for. */
const gated = (txn: Transaction, known: Observations): readonly ResolvedItem[] =>
  itemsOf(txn, known).filter(({ index }) => gatesOf(txn, index).length > 0 && !dependsOnEarlier(txn, index));

/** Whether the ServiceAccount may watch the targets that are waited for, asked once for each kind in a namespace. */
export const watchReviews = (txn: Transaction, known: Observations): readonly ApiCall[] => {
  const alike = new Map<string, [ResolvedItem, ...ResolvedItem[]]>();
  for (const item of gated(txn, known)) {
    if (preflightIn(known, item.index).permissions?.has(WATCH)) continue;
    const { resource, namespace = "" } = item.place;
    const key = JSON.stringify([resource.group, resource.plural, namespace]);
    const others = alike.get(key);
    if (others === undefined) alike.set(key, [item]);
    else others.push(item);
  }
  return [...alike.values()].map((items) => reviewOfAll(items, WATCH));
};

/** Warns of targets that may not be watched: they are polled at growing intervals, and users should know why it takes long. */
export const watchWarnings = (txn: Transaction, known: Observations): readonly string[] => {
  const [first, ...others] = gated(txn, known).filter(
    ({ index }) => preflightIn(known, index).permissions?.get(WATCH) === "denied",
  );
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return [
    `ServiceAccount ${txn.spec.serviceAccountName} may not watch ${formatRef(first.place)}${more}: waitFor is checked every 30 seconds at the latest; for less, grant it the verbs list and watch on ${first.place.resource.plural}`,
  ];
};
