// Recognises errors about immutable fields, and suggests a Replace.
import type { ResolvedChange } from "@janus/api";
import { isIrreplaceable } from "./irreplaceable-kinds.ts";

/** How the API server, and the rules of a CustomResourceDefinition, say that a field cannot be edited once it is set. */
const IMMUTABLE =
  /\bimmutable\b|\bmay not (?:be )?change|\bupdates to .{1,300} are forbidden\b|\bcannot change roleRef\b/i;

/** Whether an edit was refused since it changes what cannot be edited: another object of that name may have it. */
export const isImmutable = ({ type, target }: Pick<ResolvedChange, "type" | "target">, message: string): boolean =>
  (type === "Update" || type === "Patch") && !isIrreplaceable(target) && IMMUTABLE.test(message);

/** What to do about it, for messages. */
export const replaceHint = (change: Pick<ResolvedChange, "type" | "target">, message: string): string =>
  isImmutable(change, message)
    ? "; use type Replace (kubectl janus apply --replace), which deletes and creates it, or a new name"
    : "";
