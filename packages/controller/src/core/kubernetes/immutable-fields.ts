// Recognises errors about immutable fields, and says what to do about them.
import { isIrreplaceable, type ResolvedChange } from "@janus/api";

/** How the API server, and the rules of a CustomResourceDefinition, say that a field cannot be edited once it is set. */
const IMMUTABLE =
  /\bimmutable\b|\bmay not (?:be )?change|\bupdates to .{1,300} are forbidden\b|\bcannot change roleRef\b|\bless than status\.capacity\b/i;

type Edited = Pick<ResolvedChange, "type" | "target">;

const isOfImmutable = ({ type }: Edited, message: string): boolean =>
  (type === "Update" || type === "Patch") && IMMUTABLE.test(message);

/** Whether an edit was refused since it changes what cannot be edited, and another object of that name may have it. */
export const isImmutable = (change: Edited, message: string): boolean =>
  isOfImmutable(change, message) && !isIrreplaceable(change.target);

/** Advises what to do about an immutable field, for messages. */
export const replaceHint = (change: Edited, message: string): string => {
  if (!isOfImmutable(change, message)) return "";
  return isImmutable(change, message)
    ? "; use type Replace (kubectl janus apply --replace), which deletes and creates it, or a new name"
    : `; a ${change.target.kind} cannot be replaced, since its deletion cannot be undone: use a new name, or delete it at the end of an earlier Transaction`;
};
