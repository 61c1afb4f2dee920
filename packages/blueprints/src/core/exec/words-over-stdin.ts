// Keeps Secrets out of the URL of a command in a container: words that depend on them go to a shell over stdin, which executes them.
import { isTainted, revealed, type Text } from "../text.ts";

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Variables that only the process has. */
export type SecretEnv = Readonly<Record<string, string>>;

const exports = (env: SecretEnv): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join("");

/**
 * Guarantees: the process has exactly these words, these variables besides those of its container, and an empty stdin.
 * Assumes:    the container has a POSIX shell `sh`, if there is stdin.
 */
export const wordsOverStdin = (
  words: readonly Text[],
  env: SecretEnv = {},
): { readonly command: readonly string[]; readonly stdin?: string } => {
  const isPlain = Object.keys(env).length === 0 && !words.some(isTainted);
  if (isPlain) return { command: words.map(revealed) };
  const command = words.map((word) => quoted(revealed(word))).join(" ");
  return { command: ["sh"], stdin: `${exports(env)}exec ${command} </dev/null\n` };
};
