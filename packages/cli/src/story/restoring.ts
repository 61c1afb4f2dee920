// Builds the changes that would bring back the state before a Transaction.
import { isIrreplaceable, type Transaction } from "@janus/api";
import { type ChangeManifest, changeOf, type Manifest } from "@janus/authoring";
import type { KubeObject, Resource } from "@janus/kube";
import { objectDiff } from "../plan/object-diff.ts";
import type { Former } from "./snapshots.ts";

/** The state before a change, and the live state. */
export interface Compared {
  readonly former: Former;
  /** `Deployment shop/web` */
  readonly name: string;
  readonly live: KubeObject | undefined;
  readonly resource: Resource;
}

/** Updates the object as a whole: an Update keeps labels and annotations that its content does not name. */
const updateTo = (object: KubeObject): ChangeManifest => {
  const { labels = {}, annotations = {}, ...metadata } = object.metadata;
  return changeOf({ ...object, metadata: { ...metadata, labels, annotations } } as Manifest, "Update");
};

/** The changes that bring back the former state. */
export interface Restoring {
  /** Changes in the reverse order, and only where something differs. */
  readonly changes: readonly ChangeManifest[];
  /** Objects that are left as they are, and why. */
  readonly left: readonly string[];
}

const NOTHING: Restoring = { changes: [], left: [] };

/** The removal of an object that the Transaction created: only if it is still that one, and takes nothing else with it. */
const removing = ({ metadata, spec, status }: Transaction, { former, name, live }: Compared): Restoring => {
  const target = spec.changes[former.index]?.target;
  if (live === undefined || target === undefined) return NOTHING;
  const state = status.items[former.index]?.state;
  const created = state !== undefined && "created" in state ? state.created : undefined;
  if (created !== live.metadata.uid)
    return { changes: [], left: [`${name} is not the object that the Transaction created`] };
  if (isIrreplaceable(target))
    return { changes: [], left: [`${name} was created by the Transaction, and its deletion cannot be undone`] };
  const { namespace = metadata.namespace, ...rest } = target;
  const there = live.metadata.namespace === undefined ? rest : { ...rest, namespace };
  return { changes: [{ target: there, type: "Delete" }], left: [] };
};

const restoringOne = (txn: Transaction, one: Compared): Restoring => {
  const { former, name, live, resource } = one;
  if (former.type === "lost") return NOTHING;
  if (former.type === "none") return removing(txn, one);
  if (live === undefined) return { changes: [changeOf(former.object as Manifest, "Create")], left: [] };
  return objectDiff(name, live, former.object, resource) === ""
    ? NOTHING
    : { changes: [updateTo(former.object)], left: [] };
};

export const restoring = (txn: Transaction, compared: readonly Compared[]): Restoring => {
  const all = compared.toReversed().map((one) => restoringOne(txn, one));
  return { changes: all.flatMap(({ changes }) => changes), left: all.flatMap(({ left }) => left) };
};
