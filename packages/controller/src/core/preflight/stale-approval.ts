// Compares the targets with the approved render, and names the fields that differ.
import type { FieldDifference, RenderedChange } from "@janus/api";
import { formatRef } from "../kubernetes/kube-object.ts";
import { changeIn, trialIn } from "../state/observations.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { approvalDigest } from "./digest.ts";

/** Objects that the message names. */
const MOST_NAMED = 10;
/** Fields of one object that it names. */
const MOST_FIELDS = 5;

const values = (diff: readonly FieldDifference[] = []): ReadonlyMap<string, string> =>
  new Map(diff.map(({ path, before, after }) => [path, JSON.stringify([before, after])]));

/** The fields that were approved with other values, or that are new, as far as both are shown. */
const fields = (approved: RenderedChange, now: RenderedChange): readonly string[] => {
  const [then, here] = [values(approved.diff), values(now.diff)];
  return [...new Set([...then.keys(), ...here.keys()])].filter((path) => {
    if (then.has(path) && here.has(path)) return then.get(path) !== here.get(path);
    const { more = 0 } = then.has(path) ? now : approved;
    return more === 0;
  });
};

const listed = (names: readonly string[], most: number): string =>
  names.length <= most ? names.join(", ") : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;

/** Describes the difference; undefined if what is shown of it is the same. */
const difference = (name: string, approved: RenderedChange, now: RenderedChange): string | undefined => {
  if (approved.result !== now.result) return `${name} (${approved.result} was approved, now it is ${now.result})`;
  const paths = fields(approved, now);
  return paths.length === 0 ? undefined : `${name} ${listed(paths, MOST_FIELDS)}`;
};

const nowOf = ({ known }: ReconcileContext, { index }: ResolvedItem): RenderedChange => {
  const { target } = changeIn(known, index);
  const shown = trialIn(known, index)?.shown;
  const resourceVersion = target?.object?.metadata.resourceVersion;
  return {
    ...(shown === undefined
      ? { result: "DependsOnEarlier" }
      : { result: shown.result, diff: shown.diff, more: shown.more }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
};

/** Names what differs from the recorded render: objects and fields, or, where these are not shown, that they have changed. */
const differing = (context: ReconcileContext): readonly string[] => {
  const { txn, known } = context;
  const pairs = itemsOf(txn, known).flatMap((item) => {
    const approved = txn.status.render?.changes?.[item.index];
    return approved === undefined ? [] : [{ name: formatRef(item.place), approved, now: nowOf(context, item) }];
  });
  const shown = pairs.flatMap(({ name, approved, now }) => difference(name, approved, now) ?? []);
  return shown.length > 0
    ? shown
    : pairs.flatMap(({ name, approved, now }) =>
        approved.resourceVersion === now.resourceVersion ? [] : [`${name} (changed since)`],
      );
};

/**
 * Why what would be done is not what was approved; undefined if it is, or if no digest was approved.
 *
 * Assumes: every change was tried, and none has problems.
 */
export const staleApproval = (context: ReconcileContext): string | undefined => {
  const { txn, known } = context;
  const { approvedDigest } = txn.spec;
  if (approvedDigest === undefined) return undefined;
  const digest = approvalDigest(txn, known);
  if (digest === approvedDigest) return undefined;
  const { render } = txn.status;
  const names = render?.digest === approvedDigest ? differing(context) : undefined;
  const which =
    names === undefined
      ? "spec.approvedDigest is not the digest of status.render, so it is not known what differs"
      : names.length === 0
        ? "what differs is not among the fields that status.render shows"
        : listed(names, MOST_NAMED);
  return `what would be done is not what was approved: ${which}; the digest is ${digest} now. Review it, and have a new Transaction approved`;
};
