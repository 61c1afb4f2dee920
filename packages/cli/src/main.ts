#!/usr/bin/env node
import { Failure } from "./failure.ts";
import { program } from "./program.ts";

try {
  await program().parseAsync();
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
