// The page docs/life-of-a-transaction.md, printed from a trace of an example.
import { readFileSync } from "node:fs";
import path from "node:path";
import { firstSentence } from "../source-file.ts";
import { lifeOf } from "./life.ts";
import { observersOf } from "./observers.ts";
import { decisionsOf, filesOf, linksOf } from "./print.ts";

const root = path.resolve(import.meta.dirname, "../..");
const FILES = ["docs/examples/two-patches.yaml", "docs/examples/before.yaml"];

/** The text of the page. */
export const page = (): string => {
  const life = lifeOf(
    FILES.map((file) => path.join(root, file)),
    {},
  );
  const requests = life.at(-1)?.after.requests ?? [];
  const firstWrite = requests.findIndex(({ purpose }) => purpose === "change") + 1;
  const files = [...filesOf(life), ...observersOf(life)].map((file) => {
    const text = readFileSync(path.join(root, "packages/controller/src/core", file), "utf8");
    return `| [${file}] | ${firstSentence(text)} |`;
  });
  return `<!-- Printed by scripts/trace: change it there, and run \`npm run trace:write\`. -->

# The life of a Transaction

These are all decisions that the controller makes for a Transaction with two Patches
([two-patches.yaml](examples/two-patches.yaml)) of objects that exist ([before.yaml](examples/before.yaml)), from its
creation to the end: its own code, run against the model of the API server that [\`simulate\`](testing.md) has, and
printed by \`npm run -s trace -- ${FILES.join(" ")}\`.

The controller reads the Transaction, [\`decide\`](../packages/controller/src/core/decide.ts) returns the next requests,
the controller sends them, and \`decide\` is called again. Each number below is one such decision, with the functions
that led to it and their files: the last one decided. Below it are

- the requests that are sent, concurrently, each with its purpose. Targets are read and changed as the ServiceAccount of
  the Transaction, everything else as the controller. Behind the arrow is named how the answer is folded into what this
  process remembers, by [\`observe\`](../packages/controller/src/core/observe.ts) and the files of these names;
- what is recorded by them: the status of the Transaction, and the journal, a ConfigMap. When the controller dies, this
  is all that a new process goes by. The cursor of the journal is the index of the change that may be in flight then.

With \`--fail-at 1\` the API server refuses the second change, and the first one is rolled back. With \`--crash-at
${firstWrite}\` the controller is killed before it has the answer to request ${firstWrite}, the first change, and a new process finds out
whether that was applied. [Internals](internals.md) says why each step is as it is.

${decisionsOf(life)}

## The files

| file | first line |
|---|---|
${files.join("\n")}

${linksOf(life, "../")}
`;
};
