#!/usr/bin/env node
import { Failure } from "./failure.ts";
import { program } from "./program.ts";

const args = process.argv.slice(2);
try {
  if (["completion", "complete"].includes(args[0] ?? "")) {
    const { addCompletion } = await import("./commands/completion.ts");
    // Shells complete the name of a program, which has no space.
    const completed = program("kubectl-janus");
    await addCompletion(completed, args);
    await completed.parseAsync();
  } else {
    await program().parseAsync();
  }
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
