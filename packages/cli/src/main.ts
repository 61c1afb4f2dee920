#!/usr/bin/env node
// The entry point of kubectl janus: parses the arguments, runs the command, and reports errors.
import { Failure } from "./failure.ts";
import { withFlagsAfterCommand, withoutOtherWords } from "./leading-flags.ts";
import { endWithReader, outputTo } from "./output/style.ts";
import { programFor, wholeProgram } from "./program.ts";

const OLDEST = [22, 19] as const;

/** Libraries that we need do not load in an older Node. */
const isTooOld = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
};

for (const stream of [process.stdout, process.stderr]) endWithReader(stream);
const args = withoutOtherWords(withFlagsAfterCommand(process.argv.slice(2)));
const [called] = args;
try {
  if (isTooOld(process.versions.node))
    throw new Failure(`Node ${OLDEST.join(".")} or newer is required, but this is ${process.versions.node}`);
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
