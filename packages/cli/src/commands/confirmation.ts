// Asks the user on the terminal whether to go on.
import { createInterface } from "node:readline/promises";
import { Failure } from "../failure.ts";

/** The answer to `[y/N]`; no, if the user ends the input. Errors: Ctrl-C. @param otherwise what is said to be so then */
export const isConfirmed = async (question: string, otherwise: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  terminal.on("SIGINT", () => reject(new Failure(`interrupted: ${otherwise}`, 130)));
  terminal.on("close", () => resolve(""));
  terminal.question(question).then(resolve, reject);
  try {
    return /^y(es)?$/iu.test((await promise).trim());
  } finally {
    terminal.close();
  }
};
