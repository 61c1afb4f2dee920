// Prints the CustomResourceDefinitions of all kinds as YAML: of Transaction, Kanister's, of the Git journal; or those of one group.
import { kanisterCrds } from "@janus/blueprints/crds";
import { gitJournalCrds } from "@janus/git-journal/authoring";
import { type Manifest, render, yaml } from "./render.ts";
import { TransactionCrd } from "./transaction-crd.ts";

const [group = ""] = process.argv.slice(2);
const all = [
  ...render((chart) => new TransactionCrd(chart, "TransactionCrd")),
  ...([...kanisterCrds, ...gitJournalCrds] as unknown as readonly Manifest[]),
];
const wanted = all.filter(({ metadata }) => (metadata as { readonly name: string }).name.endsWith(group));
if (wanted.length === 0) {
  process.stderr.write(
    `there are kinds of backup.janus.io, cr.kanister.io and configbutler.ai, and none of ${group}\n`,
  );
  process.exitCode = 2;
} else process.stdout.write(yaml(wanted));
