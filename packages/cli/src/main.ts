#!/usr/bin/env node
import { Failure } from "./failure.ts";
import { withFlagsAfterCommand } from "./leading-flags.ts";
import { programFor, wholeProgram } from "./program.ts";

const args = withFlagsAfterCommand(process.argv.slice(2));
const [called] = args;
try {
  const isCompletion = called === "completion" || called === "complete";
  const program = isCompletion ? await wholeProgram() : await programFor(called);
  if (isCompletion) await (await import("./commands/completion.ts")).addCompletion(program, args);
  await program.parseAsync(args, { from: "user" });
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
