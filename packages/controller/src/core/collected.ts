import type { Owned } from "./dependents.ts";

/** One reference to an owner, in the list of all to the same. */
interface Reference {
  /** The number of the object that it is in. */
  readonly from: number;
  readonly next: Reference | undefined;
}

/** By uid: the references to it. Lists that are linked, since most have one or two of them, and there are many. */
const byOwner = (all: readonly Owned[]): ReadonlyMap<string, Reference> => {
  const references = new Map<string, Reference>();
  // From behind: the last one that is put before a list is its first.
  for (let from = all.length - 1; from >= 0; from -= 1)
    for (const owner of all[from]?.owners ?? []) references.set(owner, { from, next: references.get(owner) });
  return references;
};

/** What goes with the deletions of a Transaction. */
export interface Collected {
  /** By uid: the change that deletes an object. */
  readonly deletedBy: ReadonlyMap<string, number>;
  /** By uid: the change after which an object is gone. */
  readonly goneAfter: ReadonlyMap<string, number>;
  /** What the garbage collector takes, and no change deletes, by the change after which it is gone. Owners come first. */
  readonly lost: ReadonlyMap<number, readonly Owned[]>;
}

/**
 * Follows the garbage collector, deletion by deletion: an object goes with the last of its owners.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 *
 * Guarantees: the work grows with the objects and their references, however these are nested; what owns itself in a circle
 *             stays, as at the API server.
 * @param all objects that name owners
 * @param deletions the uids that the changes delete, by change; `undefined` for a change that deletes nothing
 */
export const collect = (all: readonly Owned[], deletions: readonly (string | undefined)[]): Collected => {
  const references = byOwner(all);
  const deletedBy = new Map(
    deletions.flatMap((uid, index) => (uid === undefined ? [] : [[uid, index] as const])).toReversed(),
  );
  const goneAfter = new Map<string, number>();
  const lost = new Map<number, readonly Owned[]>();
  const ownersLeft = all.map(({ owners }) => owners.length);
  deletions.forEach((deletion, index) => {
    if (deletion === undefined) return;
    const going = [deletion];
    const taken: Owned[] = [];
    // What goes with one of them joins the list while it is walked.
    for (const uid of going) {
      if (goneAfter.has(uid)) continue;
      goneAfter.set(uid, index);
      for (let to = references.get(uid); to !== undefined; to = to.next) {
        const left = (ownersLeft[to.from] ?? 0) - 1;
        ownersLeft[to.from] = left;
        const object = all[to.from];
        if (left > 0 || object === undefined) continue;
        going.push(object.uid);
        if (!deletedBy.has(object.uid)) taken.push(object);
      }
    }
    if (taken.length > 0) lost.set(index, taken);
  });
  return { deletedBy, goneAfter, lost };
};
