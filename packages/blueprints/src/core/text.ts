// Rendered text, of which each piece says whether it depends on a Secret: only what does not may be written into an object.
import { isObject } from "@janus/types";

export interface Piece {
  readonly text: string;
  /** Whether it depends on the value of a Secret. */
  readonly isTainted: boolean;
}

/** The text of an argument: its pieces in order. */
export interface Text {
  readonly pieces: readonly Piece[];
}

/** Stands in place of a Secret in all that is shown. */
export const REDACTED = "***";

export const plain = (text: string): Text => ({ pieces: [{ text, isTainted: false }] });

const isPiece = (value: unknown): value is Piece => isObject(value) && typeof value["text"] === "string";

/** No object of a user is one, once its strings are rendered: they are objects themselves. */
export const isText = (value: unknown): value is Text =>
  isObject(value) && Array.isArray(value["pieces"]) && value["pieces"].every(isPiece);

export const isTainted = ({ pieces }: Text): boolean => pieces.some((piece) => piece.isTainted);

/** The whole text, Secrets included: for a process, and never for an object. */
export const revealed = ({ pieces }: Text): string => pieces.map(({ text }) => text).join("");

/** Returns the text; undefined: it depends on a Secret. */
export const untainted = (text: Text): string | undefined => (isTainted(text) ? undefined : revealed(text));
