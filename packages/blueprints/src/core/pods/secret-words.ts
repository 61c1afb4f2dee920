// Keeps Secrets out of the command of a Pod: their pieces go to a Secret of their own, and the kubelet puts them back.
import type { Json, JsonObject } from "@janus/types";
import type { Piece, Text } from "../text.ts";

/** A command in which `$(JANUS_ARG_0)` stands for what depends on a Secret. */
export interface ConcealedWords {
  readonly words: readonly string[];
  /** The variables, for the container. */
  readonly env: readonly JsonObject[];
  /** The values, for a Secret. */
  readonly values: Readonly<Record<string, string>>;
}

const dollarsAtEnd = (piece: Piece | undefined): string =>
  piece !== undefined && !piece.isTainted ? (/\$+$/u.exec(piece.text)?.[0] ?? "") : "";

/** An odd `$` before a reference would escape it, so it becomes part of the value. */
const withoutDollar = (pieces: readonly Piece[]): readonly Piece[] =>
  pieces.map((piece, at) => {
    if (piece.isTainted) return { ...piece, text: `${dollarsAtEnd(pieces[at - 1])}${piece.text}` };
    return pieces[at + 1]?.isTainted === true
      ? { ...piece, text: piece.text.slice(0, piece.text.length - dollarsAtEnd(piece).length) }
      : piece;
  });

/**
 * Guarantees: the process sees the words as they are, `$(NAME)` expanded by the kubelet where it is not of a Secret.
 *
 * @param secret the name of the Secret
 */
export const concealed = (words: readonly Text[], secret: string): ConcealedWords => {
  const values: string[] = [];
  const shown = words.map(({ pieces }) =>
    withoutDollar(pieces)
      .map(({ text, isTainted }) => (isTainted ? `$(JANUS_ARG_${values.push(text) - 1})` : text))
      .join(""),
  );
  return {
    words: shown,
    env: values.map(
      (_, at): JsonObject => ({
        name: `JANUS_ARG_${at}`,
        valueFrom: { secretKeyRef: { name: secret, key: `${at}` } as Json as JsonObject },
      }),
    ),
    values: Object.fromEntries(values.map((value, at) => [`${at}`, value])),
  };
};
