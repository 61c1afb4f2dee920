import type { Owned } from "../state/listings.ts";

/** One reference to an owner, in the list of all to the same. */
interface Reference {
  /** The number of the object that it is in. */
  readonly from: number;
  /** It goes with this owner, whatever others it has. */
  readonly isTied: boolean;
  readonly next: Reference | undefined;
}

/** By uid: the references to it. Lists that are linked, since most have one or two of them, and there are many. */
const byOwner = (all: readonly Owned[]): ReadonlyMap<string, Reference> => {
  const references = new Map<string, Reference>();
  // From behind: the last one that is put before a list is its first.
  for (let from = all.length - 1; from >= 0; from -= 1) {
    const { owners = [], tiedTo } = all[from] ?? {};
    for (const owner of owners) references.set(owner, { from, isTied: false, next: references.get(owner) });
    if (tiedTo !== undefined) references.set(tiedTo, { from, isTied: true, next: references.get(tiedTo) });
  }
  return references;
};

/** What goes with the deletions of a Transaction. */
export interface Collected {
  /** By uid: the change that deletes an object. */
  readonly deletedBy: ReadonlyMap<string, number>;
  /** By uid, and by call name (see `implicit-owners.ts`): the change after which an object is gone. */
  readonly goneAfter: ReadonlyMap<string, number>;
  /** What the garbage collector takes, and no change deletes, by the change after which it is gone. Owners come first. */
  readonly lost: ReadonlyMap<number, readonly Owned[]>;
}

/**
 * Follows the garbage collector, deletion by deletion: an object goes with the last of its owners; what is tied to one, with that one.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 *
 * Guarantees: the work grows with the objects and their references, however these are nested; what owns itself in a circle
 *             stays, as at the API server.
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
    // What goes with one of them joins the list while it is walked.
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
