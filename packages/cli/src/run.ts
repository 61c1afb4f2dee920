// Parses the arguments, runs the command, and reports errors.
import { Failure } from "./failure.ts";
import { withFlagsAfterCommand, withoutOtherWords } from "./leading-flags.ts";
import { endWithReader, outputTo } from "./output/style.ts";
import { programFor, wholeProgram } from "./program.ts";

/** Runs the command that the arguments name. It sets the exit code. */
export const run = async (argv: readonly string[]): Promise<void> => {
  for (const stream of [process.stdout, process.stderr]) endWithReader(stream);
  const args = withoutOtherWords(withFlagsAfterCommand(argv));
  const [called] = args;
  try {
    // As the scripts for shells call it: `complete -- WORDS`.
    if (called === "complete") {
      const { completed } = await import("./completion/complete.ts");
      process.stdout.write(await completed(await wholeProgram(), args.slice(2)));
    } else await (await programFor(called)).parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    outputTo(process.stderr).write(`error: ${error.message}\n`);
    process.exitCode = error.exitCode;
  }
};
