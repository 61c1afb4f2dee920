// The page docs/life-of-a-transaction.md, printed from a trace of an example.
import { readFileSync } from "node:fs";
import path from "node:path";
import { firstSentence } from "../source-file.ts";
import { lifeOf } from "./life.ts";
import { observersOf } from "./observers.ts";
import { decisionsOf, filesOf, firstDifference, linksOf } from "./print.ts";

const root = path.resolve(import.meta.dirname, "../..");
const FILES = ["docs/examples/two-patches.yaml", "docs/examples/before.yaml"];

/** The change that the API server refuses in the second life. */
const REFUSED = { failAt: 1 };

/** The text of the page. */
export const page = (): string => {
  const files = FILES.map((file) => path.join(root, file));
  const committed = lifeOf(files, {});
  const refused = lifeOf(files, REFUSED);
  const from = firstDifference(refused, committed);
  const both = [...committed, ...refused];
  const requests = committed.at(-1)?.after.requests ?? [];
  const firstWrite = requests.findIndex(({ purpose }) => purpose === "change") + 1;
  const rows = [...filesOf(both), ...observersOf(both)].map((file) => {
    const text = readFileSync(path.join(root, "packages/controller/src/core", file), "utf8");
    return `| [${file}] | ${firstSentence(text)} |`;
  });
  return `<!-- Printed by scripts/trace: change it there, and run \`npm run trace:write\`. -->

# The life of a Transaction

These are all decisions that the controller makes for a Transaction with two Patches
([two-patches.yaml](examples/two-patches.yaml)) of objects that exist ([before.yaml](examples/before.yaml)), from its
creation to the end: its own code, run against the model of the API server that [\`simulate\`](testing.md) has, and
printed by \`npm run -s trace -- ${FILES.join(" ")}\`. Below them is how the same Transaction is
[rolled back](#rolled-back) when the API server refuses the second Patch.

The controller reads the Transaction, [\`decide\`](../packages/controller/src/core/decide.ts) returns the next requests,
the controller sends them, and \`decide\` is called again. Each number below is one such decision, with the functions
that led to it and their files: the last one made the first request. Below it are

- the requests that are sent, concurrently, each with its purpose. Targets are read and changed as the ServiceAccount of
  the Transaction, everything else as the controller. Behind the arrow is named how the answer is folded into what is
  remembered, by [\`observe\`](../packages/controller/src/core/observe.ts) and the \`observe-*.ts\` with these names;
- what is recorded by them: the status of the Transaction, and the journal, a ConfigMap. When the controller dies, this
  is all that a new process goes by. Changes from its cursor on, up to the end of its window, may have been made then.

With \`--crash-at ${firstWrite}\` it is killed before it has the answer to the first change. [Internals](internals.md) says why each step is so.

${decisionsOf(committed)}

## Rolled back

With \`--fail-at ${REFUSED.failAt}\` the API server refuses the second Patch. The decisions before are the same.

${decisionsOf(refused, REFUSED, from).replaceAll(/^## /gmu, "### ")}

## The files

| file | first line |
|---|---|
${rows.join("\n")}

${linksOf(both, "../")}
`;
};
