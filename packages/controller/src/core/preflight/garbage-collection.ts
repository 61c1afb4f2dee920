// Simulates the garbage collector for the deletions of a Transaction.
import type { Owned } from "../state/listings.ts";

/** A reference to an owner, in the linked list of all references to it. */
interface Reference {
  /** The index of the object with the reference. */
  readonly from: number;
  /** It is deleted with this owner, whatever other owners it has. */
  readonly isTied: boolean;
  readonly next: Reference | undefined;
}

/** The references by the uid of the owner. Linked lists, since there are many, and most have one or two entries. */
const byOwner = (all: readonly Owned[]): ReadonlyMap<string, Reference> => {
  const references = new Map<string, Reference>();
  // In reverse, since each entry is put at the front of its list.
  for (let from = all.length - 1; from >= 0; from -= 1) {
    const { owners = [], tiedTo } = all[from] ?? {};
    for (const owner of owners) references.set(owner, { from, isTied: false, next: references.get(owner) });
    if (tiedTo !== undefined) references.set(tiedTo, { from, isTied: true, next: references.get(tiedTo) });
  }
  return references;
};

/** Objects that are deleted with the deletions of a Transaction. */
export interface Collected {
  /** The change that deletes an object, by the uid of the object. */
  readonly deletedBy: ReadonlyMap<string, number>;
  /** The change after which an object is gone, by its uid, and by its call name (see `implicit-owners.ts`). */
  readonly goneAfter: ReadonlyMap<string, number>;
  /**
   * Objects that the garbage collector deletes, and no change does, by the change after which they are gone.
   * Owners come first.
   */
  readonly lost: ReadonlyMap<number, readonly Owned[]>;
}

/**
 * Simulates the garbage collector, deletion by deletion: an object is deleted with the last of its owners, or
 * with its implicit owner.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 *
 * Guarantees: the work is linear in the objects and their references; objects that own each other in a circle
 *             stay, as with the API server.
 * @param all objects that name owners
 * @param deletions the uids that the changes delete, by change; `undefined` for a change that deletes nothing
 * @param callNames by uid
 */
export const collectGarbage = (
  all: readonly Owned[],
  deletions: readonly (string | undefined)[],
  callNames: ReadonlyMap<string, string> = new Map(),
): Collected => {
  const references = byOwner(all);
  const deletedBy = new Map(
    deletions.flatMap((uid, index) => (uid === undefined ? [] : [[uid, index] as const])).toReversed(),
  );
  const goneAfter = new Map<string, number>();
  const lost = new Map<number, readonly Owned[]>();
  const ownersLeft = all.map(({ owners }) => owners.length);
  deletions.forEach((deletion, index) => {
    if (deletion === undefined) return;
    const going: string[] = [];
    const goes = (one: string): boolean => {
      if (goneAfter.has(one)) return false;
      goneAfter.set(one, index);
      going.push(one);
      return true;
    };
    goes(deletion);
    const taken: Owned[] = [];
    // Dependents are added to the list while it is iterated.
    for (const one of going) {
      const callName = callNames.get(one);
      if (callName !== undefined) goes(callName);
      for (let to = references.get(one); to !== undefined; to = to.next) {
        const left = to.isTied ? 0 : (ownersLeft[to.from] ?? 0) - 1;
        ownersLeft[to.from] = left;
        const object = all[to.from];
        if (left > 0 || object === undefined || !goes(object.uid)) continue;
        if (!deletedBy.has(object.uid)) taken.push(object);
      }
    }
    if (taken.length > 0) lost.set(index, taken);
  });
  return { deletedBy, goneAfter, lost };
};
