// The generated pages of docs/reference, by path.
import { transactionCrd } from "@janus/api";
import { wholeProgram } from "../program.ts";
import { commandReference } from "./command-reference.ts";
import { fieldReference } from "./field-reference.ts";
import { functionReference } from "./function-reference.ts";
import { journalReference } from "./journal-reference.ts";
import { jsonReference } from "./json-reference.ts";
import { templateReference } from "./template-reference.ts";

/** The pages that are printed, by their paths in the repository. */
export const printed = async (): Promise<Readonly<Record<string, string>>> => ({
  "docs/reference/cli.md": commandReference(await wholeProgram()),
  "docs/reference/json.md": jsonReference(),
  "docs/reference/api.md": fieldReference(transactionCrd),
  "docs/reference/git-journal.md": journalReference(),
  "docs/reference/functions.md": functionReference(),
  "docs/reference/templates.md": templateReference(),
});
