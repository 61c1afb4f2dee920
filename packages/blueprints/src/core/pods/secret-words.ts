// Keeps Secrets out of the command of a Pod: the words that depend on them go to a Secret of their own, and the kubelet puts them back.
import type { JsonObject } from "@janus/types";
import { isTainted, revealed, type Text } from "../text.ts";

/** A command in which `$(JANUS_ARG_0)` stands for what depends on a Secret. */
export interface ConcealedWords {
  readonly words: readonly string[];
  /** The variables, for the container. */
  readonly env: readonly JsonObject[];
  /** The values, for a Secret. */
  readonly values: Readonly<Record<string, string>>;
}

/** The text that the kubelet makes of a word of which it knows no name: `$$` is a `$`, and `$(NAME)` stays. */
const unescaped = (word: string): string => word.replaceAll("$$", "$");

/**
 * Puts each word that depends on a Secret into a value, as a whole: a reference in the middle of a word would be lost to the kubelet
 * where `$(` comes before it, as in a shell's command substitution.
 *
 * Guarantees: the process sees the words that it would see without this, but for `$(NAME)` of other variables in such a word.
 *
 * @param secret the name of the Secret
 */
export const concealed = (words: readonly Text[], secret: string): ConcealedWords => {
  const values: string[] = [];
  const shown = words.map((word) =>
    isTainted(word) ? `$(JANUS_ARG_${values.push(unescaped(revealed(word))) - 1})` : revealed(word),
  );
  return {
    words: shown,
    env: values.map(
      (_, at): JsonObject => ({
        name: `JANUS_ARG_${at}`,
        valueFrom: { secretKeyRef: { name: secret, key: `${at}` } },
      }),
    ),
    values: Object.fromEntries(values.map((value, at) => [`${at}`, value])),
  };
};
