import { FINALIZER, type ItemState, marks } from "@janus/api";
import { isTerminal, type KubeObject } from "@janus/controller";
import { equal } from "@janus/types";
import { OWN, targetKey } from "./scenario.ts";
import type { State } from "./state.ts";
import { situationOf } from "./moment.ts";

const dataOf = (object: KubeObject | undefined): object | undefined => object?.["data"] as object | undefined;

const isOurs = (object: KubeObject | undefined, uid: string): boolean =>
  (object?.metadata.managedFields ?? []).some(({ manager = "" }) => marks(manager, uid));

const books = (object: KubeObject): readonly unknown[] =>
  (object.metadata.managedFields ?? []).toSorted((a, b) => ((a.manager ?? "") < (b.manager ?? "") ? -1 : 1));

/** States of a change whose target must be as if we had never been there. */
const CLEAN: readonly ItemState["type"][] = ["untouched", "refused", "prepared", "rejected", "restored"];

const isDeleting = (type: string): boolean => type === "Delete" || type === "Replace";

/** What the targets contain before. */
const FORMER = { ours: "old", other: "old" };

/** What is wrong with a target that is said to be as it was, but for what others did. */
const notAsBefore = (state: State, index: number): readonly string[] => {
  const key = targetKey(index);
  const { txn } = situationOf(state);
  const is = state.world.objects.get(key);
  const should = state.without.get(key);
  const { type } = txn.spec.changes[index] ?? { type: "Create" };
  // A target of a deletion in doubt that is gone counts as ours (docs/internals.md, "In doubt").
  if (isDeleting(type) && state.deleted.has(key)) return [];
  // An edit of a replacement goes with it, as of any created object.
  if (type === "Replace" && !equal(dataOf(is), dataOf(should)) && equal(dataOf(is), FORMER)) return [];
  if (!equal(dataOf(is), dataOf(should)))
    return [`${key} is ${JSON.stringify(dataOf(is))} instead of ${JSON.stringify(dataOf(should))}`];
  if (is === undefined || should === undefined) return [];
  const sameObject = is.metadata.uid === should.metadata.uid || isDeleting(type);
  return [
    ...(sameObject ? [] : [`${key} is another object: ${is.metadata.uid} instead of ${should.metadata.uid}`]),
    ...(isOurs(is, txn.metadata.uid) ? [`${key} carries our mark`] : []),
    // Where others have cleared who owned what, there is nothing to give back to.
    ...(should.metadata.managedFields === undefined || equal(books(is), books(should))
      ? []
      : [`${key} is owned by ${JSON.stringify(books(is))} instead of ${JSON.stringify(books(should))}`]),
  ];
};

/** What is wrong with a target after Committed. */
const notCommitted = (state: State, index: number): readonly string[] => {
  const key = targetKey(index);
  const change = situationOf(state).txn.spec.changes[index];
  if (change === undefined || state.touched.has(key)) return [];
  const is = dataOf(state.world.objects.get(key));
  const should =
    change.type === "Delete"
      ? undefined
      : {
          ...(change.type === "Patch" ? dataOf(state.without.get(key)) : {}),
          ...(change.content["data"] as object),
        };
  return equal(is, should) ? [] : [`${key} is ${JSON.stringify(is)} instead of ${JSON.stringify(should)}`];
};

const UNSETTLED: readonly ItemState["type"][] = ["rollback-failed", "unknown", "committed"];

/** What is left behind that should not be. */
const leftBehind = (state: State): readonly string[] => {
  const { txn } = situationOf(state);
  const { phase, items } = txn.status;
  const unsettled = phase === "Failed" && items.some(({ state: item }) => UNSETTLED.includes(item.type));
  return [...state.world.objects].flatMap(([key, object]) => {
    if (state.stray.has(key)) return [];
    const spec = object["spec"] as { readonly holderIdentity?: string } | undefined;
    if (key.startsWith("Lease ")) return spec?.holderIdentity?.endsWith(txn.metadata.uid) ? [`${key} is left`] : [];
    const keepsJournal = unsettled && txn.metadata.deletionTimestamp === undefined;
    if (key.includes("janus-journal-")) return keepsJournal ? [] : [`${key} is left`];
    if (!key.includes("-rollback")) return [];
    const held = (object.metadata.finalizers ?? []).length > 0;
    const owned = (object.metadata.ownerReferences ?? []).length > 0;
    const fits = phase === "RolledBack" ? owned && !held : unsettled && !held;
    if (!fits) return [`${key} is left`];
    const orphaned = object.metadata.labels?.["janus.io/orphaned"] === "true";
    // Nobody is told of the deletion of a Failed one without our finalizer (docs/guarantees.md, "A Failed Transaction that is deleted by hand").
    const { deletionTimestamp, finalizers = [] } = txn.metadata;
    const isToldOf = deletionTimestamp !== undefined || finalizers.includes(FINALIZER);
    return phase === "Failed" && !state.world.objects.has(OWN) && isToldOf && !orphaned
      ? [`${key} is not to be found`]
      : [];
  });
};

/** What must hold when nothing is left to do (docs/internals.md, "Protocol" and "Rollback"). */
export const violations = (state: State): readonly string[] => {
  const { txn } = situationOf(state);
  const { phase, items } = txn.status;
  const wrong = (index: number): readonly string[] => {
    const at = items[index]?.state.type ?? "untouched";
    if (at === "committed") return notCommitted(state, index).map((text) => `${phase}: ${text}`);
    if (phase === "Committed") return [`Committed, but changes[${index}] is ${at}`];
    if (CLEAN.includes(at))
      return notAsBefore(state, index).map((text) => `${phase}, and changes[${index}] is ${at}, but ${text}`);
    return phase === "RolledBack" ? [`RolledBack, but changes[${index}] is ${at}`] : [];
  };
  const gone = !state.world.objects.has(OWN);
  return [
    ...(isTerminal(phase) || gone ? [] : [`nothing is left to do, and the phase is ${phase}`]),
    ...((txn.metadata.finalizers ?? []).includes(FINALIZER) && !gone ? ["the finalizer is left"] : []),
    ...txn.spec.changes.flatMap((_, index) => wrong(index)),
    ...leftBehind(state),
  ];
};
