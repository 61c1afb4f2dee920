// Answers the completion scripts of the shells in the protocol of cobra.
import type { Command } from "commander";
import { type Candidates, candidatesFor } from "./candidates.ts";
import { typedOf } from "./typed.ts";

/** Codes as the scripts of cobra have them, which kubectl uses: files may come next, or they may not. */
const FILES = 0;
const NO_FILES = 4;

/**
 * Returns the lines that the scripts of the shells read: one for each word that may come next, with a description after a tab,
 * and last whether files may.
 * https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md
 *
 * Guarantees: no errors: a shell would not show them.
 */
export const completed = async (program: Command, words: readonly string[]): Promise<string> => {
  const typed = typedOf(program, words);
  const all = await candidatesFor(typed).catch((): Candidates => []);
  const lines = all === "files" ? [] : all.filter(({ text }) => text.startsWith(typed.prefix));
  const last = `:${all === "files" ? FILES : NO_FILES}`;
  return [...lines.map(({ text, what }) => `${text}\t${what}`), last].map((line) => `${line}\n`).join("");
};
