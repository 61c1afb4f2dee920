// Keeps Secrets out of the URL of a command in a container: words that depend on them go to a shell over stdin, which executes them.
import { isTainted, revealed, type Text } from "../text.ts";

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Guarantees: the process has exactly these words, and an empty stdin.
 * Assumes:    the container has a POSIX shell `sh`, if there is stdin.
 */
export const wordsOverStdin = (
  words: readonly Text[],
): { readonly command: readonly string[]; readonly stdin?: string } =>
  words.some(isTainted)
    ? { command: ["sh"], stdin: `exec ${words.map((word) => quoted(revealed(word))).join(" ")} </dev/null\n` }
    : { command: words.map(revealed) };
