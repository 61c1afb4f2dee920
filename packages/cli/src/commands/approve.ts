// The command approve: shows what a Draft would do, and publishes exactly that.
import { LAST_EDITED_BY, LIFECYCLE_CHANGED_BY, REQUESTED_BY, type Transaction } from "@janus/api";
import { messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { awaitRender, type Rendered } from "../cluster/await-render.ts";
import { type Cluster, type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { move } from "../cluster/move.ts";
import { readTransaction } from "../cluster/transactions.ts";
import { Failure } from "../failure.ts";
import { age } from "../output/age.ts";
import { outputTo, painter } from "../output/style.ts";
import { renderReport } from "../plan/render-report.ts";
import { unshown, type Unshown } from "../plan/unshown.ts";
import { exitCodeOf, showProgress } from "../progress/show-progress.ts";
import { isConfirmed } from "./confirmation.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";
import { nameAndNamespace, published, refuseIn } from "./lifecycle.ts";

interface ApproveFlags extends ClusterFlags {
  readonly yes?: true;
  readonly wait?: true;
}

/** Milliseconds. Targets that may be watched are rendered again when they change, so that only the rest gets old. */
const OLD = 60 * 60_000;

/** The users who had a hand in it. */
const authors = ({ metadata: { annotations = {} }, spec }: Transaction): string => {
  const by = (name: string): string => annotations[name] ?? "an unknown user";
  return [
    `Requested by ${by(REQUESTED_BY)}`,
    `last edited by ${by(LAST_EDITED_BY)}`,
    ...(spec.lifecycle === "Proposed" ? [`proposed by ${by(LIFECYCLE_CHANGED_BY)}`] : []),
  ].join(", ");
};

/** Warnings that an approver should know before approving. */
const warnings = ({ render, txn }: Rendered, now: number): readonly string[] => [
  ...(render.digest === undefined
    ? [
        "It would fail. What is not rendered without problems has no digest: if it is approved, whatever it does then runs",
      ]
    : []),
  ...(now - Date.parse(render.renderedAt) > OLD
    ? [`It was rendered ${age(render.renderedAt, now)} ago: if a target has changed since, nothing will be applied`]
    : []),
  ...(txn.spec.lifecycle === "Draft" ? ["It is a Draft that was not proposed"] : []),
];

/** The contents of what is not shown in full; then what they do not show either, and how to see it. */
const leftOut = ({ contents, fields, others }: Unshown, on: string): string => {
  const missing = [...fields, ...others];
  const seeing = `To see it, compare the targets (kubectl get -o yaml) with kubectl get transaction ${on} -o yaml.`;
  return [
    ...contents,
    ...(missing.length === 0 ? [] : [`Not shown:\n${missing.map((text) => `  - ${text}\n`).join("")}${seeing}\n`]),
  ]
    .map((part) => `${part}\n`)
    .join("");
};

/**
 * Publishes the Transaction with the digest of the render that was shown.
 *
 * Guarantees: only the spec that was shown is published. What the controller writes meanwhile, such as the same render
 *             of a later time, is no obstacle.
 * Errors: if it was edited or moved, or would do something else, since it was shown; if the API server refuses.
 */
const publish = async (cluster: Cluster, shown: Rendered): Promise<void> => {
  const { name } = shown.txn.metadata;
  const { digest } = shown.render;
  const what = `cannot approve Transaction ${cluster.namespace}/${name}`;
  const approved = digest === undefined ? {} : { approvedDigest: digest };
  for (let { txn } = shown; ; ) {
    const answer = await move(cluster, txn, { to: "Published", ...approved, isUnchanged: true });
    if (E.isRight(answer)) return;
    const { left: error } = answer;
    if (error.type !== "refused" || error.reason !== "Conflict") throw new Failure(`${what}: ${messageOf(error)}`);
    ({ txn } = await readTransaction(cluster, name));
    const { metadata, status } = txn;
    const isSame =
      metadata.uid === shown.txn.metadata.uid &&
      metadata.generation === shown.txn.metadata.generation &&
      status.render?.digest === digest;
    if (!isSame)
      throw new Failure(
        `${what}: it was edited, or would do something else, since it was shown. ` +
          `To look at it again: kubectl janus approve ${nameAndNamespace(txn)}`,
      );
  }
};

const approve = (name: string, flags: ApproveFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const output = outputTo(process.stdout);
    const paint = painter(output);
    refuseIn((await readTransaction(cluster, name)).txn, { Published: published });
    const shown = await awaitRender(cluster, name);
    const { txn, render } = shown;
    const on = nameAndNamespace(txn);
    const warned = warnings(shown, Date.now());
    const left = unshown(txn, render);
    output.write(
      `${renderReport(txn, render, paint, output.width)}\n${leftOut(left, on)}${authors(txn)}.\n` +
        warned.map((warning) => paint("yellow", `Warning: ${warning}.\n`)).join(""),
    );
    if (flags.yes !== true && !process.stdin.isTTY)
      throw new Failure(
        `nothing was approved: the standard input is not a terminal, so it cannot be confirmed. To approve it without confirmation, add --yes`,
      );
    if (flags.yes === true && render.digest === undefined)
      throw new Failure(
        `nothing was approved: it would fail, and --yes does not approve a Transaction that would fail`,
      );
    if (flags.yes === true && left.fields.length > 0)
      throw new Failure(
        `nothing was approved: not all of it can be shown, and --yes approves only what is shown. To approve it, leave out --yes`,
      );
    if (flags.yes !== true && !(await isConfirmed("Approve it? [y/N] ", "nothing was approved"))) {
      output.write(`Nothing was approved. To set it back to Draft: kubectl janus reject ${on}\n`);
      return 1;
    }
    await publish(cluster, shown);
    output.write(`Transaction ${cluster.namespace}/${name} is approved.\n`);
    if (flags.wait === true)
      return exitCodeOf(await showProgress(cluster, name, { output, uid: shown.txn.metadata.uid }));
    output.write(`To watch it:  kubectl janus watch ${on}\n`);
    return 0;
  });

export const approveCommand = command("approve")
  .argument("<name>", "name of the Transaction")
  .option("-y, --yes", "do not ask")
  .option("--wait", "show its progress until it has finished")
  .addHelpText(
    "after",
    `
Shows what the Transaction would do, and asks. That is what runs: if it would
do anything else when it is executed, it is Failed, and nothing is changed.
Where the render has no room for all of it, the contents of the changes are
shown, too, and what is not shown is named: --yes does not approve that, but
for values of Secrets, and what nobody can know before it is executed.

Exit codes: 0 approved, 1 not approved. With --wait: 0 Committed, 2 RolledBack,
3 Failed, 1 not approved, 5 it was deleted, or cannot be watched,
130 interrupted.`,
  )
  .action((name: string, flags: ApproveFlags) => exitWith(approve(name, flags)));
