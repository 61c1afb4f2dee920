// The commands rollback, retry and cancel, which request something of a published Transaction.
import {
  type Phase,
  REQUEST_ROLLBACK,
  RETRY_ROLLBACK,
  ROLLBACK_REQUESTED_BY,
  type Transaction,
  transactions,
} from "@janus/api";
import { isReversible, isTerminal, isUnread, REVERSIBLE } from "@janus/controller";
import { type Cluster, type ClusterFlags, onCluster, sent } from "../cluster/cluster.ts";
import { readTransaction } from "../cluster/transactions.ts";
import { readUserName } from "../cluster/user-name.ts";
import { Failure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import { outputTo } from "../output/style.ts";
import { interruptible } from "../progress/interruptible.ts";
import { messageOfTransaction } from "../progress/progress-text.ts";
import { exitCodeOf, showProgress } from "../progress/show-progress.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";
import { nameAndNamespace, refuseIn } from "./lifecycle.ts";

interface ActFlags extends ClusterFlags {
  readonly wait: boolean;
}

/** Why it is not possible in this phase, and what to do instead; undefined: it is possible. */
type Refusal = (txn: Transaction) => string | undefined;

const BEFORE_CHANGES: readonly Phase[] = ["Pending", "Preparing", "Prepared"];

const isIncomplete = ({ status: { phase, conditions } }: Transaction): boolean =>
  phase === "Failed" && conditions.some(({ reason }) => reason === "RollbackIncomplete");

const finished = (txn: Transaction, instead: string): string => {
  const { name, namespace } = txn.metadata;
  return `Transaction ${namespace}/${name} has finished: it is ${txn.status.phase} (${messageOfTransaction(txn)}). ${instead}`;
};

const nothingApplied = (on: string): string => `no changes are applied. To delete it: kubectl delete transaction ${on}`;

const reversible = ({ status }: Transaction) => status.conditions.find(({ type }) => type === REVERSIBLE);

const notReversible = (txn: Transaction): string => {
  const { message } = reversible(txn) ?? {};
  return message === undefined
    ? "It had no spec.rollbackWindow, so its snapshots are gone"
    : `It cannot be rolled back: ${message}`;
};

const notRead: Refusal = (txn) => {
  const { namespace, name } = txn.metadata;
  return `the controller cannot read Transaction ${namespace}/${name}, and serves no request: ${messageOfTransaction(txn)}`;
};

const cannotRollBack: Refusal = (txn) => {
  if (isIncomplete(txn)) return finished(txn, `To try the rest again: kubectl janus retry ${nameAndNamespace(txn)}`);
  if (!isTerminal(txn.status.phase) || isReversible(txn)) return undefined;
  if (txn.status.phase === "Committed")
    return finished(txn, `${notReversible(txn)}: apply the former manifests in a new Transaction`);
  return txn.status.phase === "RolledBack" || isUntouched(txn)
    ? finished(txn, "There is nothing to roll back")
    : finished(txn, `To restore the former state: kubectl janus snapshot restore ${nameAndNamespace(txn)}`);
};

const cannotRetry: Refusal = (txn) => {
  if (isIncomplete(txn)) return undefined;
  return isTerminal(txn.status.phase)
    ? finished(txn, "No item is left to roll back; apply the manifests in a new Transaction")
    : `Transaction ${txn.metadata.namespace}/${txn.metadata.name} is ${txn.status.phase}: it tries again by itself`;
};

const cannotCancel: Refusal = (txn) => {
  if (isTerminal(txn.status.phase)) return finished(txn, "There is nothing to cancel");
  return BEFORE_CHANGES.includes(txn.status.phase)
    ? undefined
    : `Transaction ${txn.metadata.namespace}/${txn.metadata.name} is ${txn.status.phase}: changes may be applied. ` +
        `To roll them back: kubectl janus rollback ${nameAndNamespace(txn)}`;
};

/** Sets the annotation, on the very Transaction that was read: not on another of its name. */
const annotate = async (cluster: Cluster, { metadata }: Transaction, annotation: string): Promise<unknown> => {
  const { api } = cluster;
  const { name, namespace, uid } = metadata;
  const by = annotation === REQUEST_ROLLBACK ? { [ROLLBACK_REQUESTED_BY]: await readUserName(cluster) } : {};
  const body = { metadata: { uid, annotations: { [annotation]: new Date().toISOString(), ...by } } };
  const what = `cannot annotate Transaction ${namespace}/${name}`;
  return sent(
    api,
    { verb: "mergePatch", resource: transactions, namespace, name, body, fieldManager: "kubectl-janus" },
    what,
  );
};

interface Action {
  /** In messages: the … of a Transaction is requested. */
  readonly noun: string;
  readonly annotation: string;
  readonly refusal: Refusal;
}

const ROLLBACK: Action = { noun: "rollback", annotation: REQUEST_ROLLBACK, refusal: cannotRollBack };
const RETRY: Action = { noun: "retry", annotation: RETRY_ROLLBACK, refusal: cannotRetry };
const CANCEL: Action = { noun: "cancellation", annotation: REQUEST_ROLLBACK, refusal: cannotCancel };

const isPossible =
  ({ refusal }: Action) =>
  (txn: Transaction): boolean =>
    txn.spec.lifecycle === "Published" && !isUnread(txn) && refusal(txn) === undefined;

export const canRollBack = isPossible(ROLLBACK);
export const canRetry = isPossible(RETRY);
export const canCancel = isPossible(CANCEL);

/** Whether it is Failed before its first change. One that was deleted before its end is Failed, too, with changes applied. */
const isUntouched = ({ status: { phase, conditions } }: Transaction): boolean =>
  phase === "Failed" && conditions.some(({ reason }) => reason === "NoChangesApplied");

/** 0 if everything is as before: nothing was changed, or all of it was rolled back. */
const outcome = (txn: Transaction): number =>
  txn.status.phase === "RolledBack" || isUntouched(txn) ? 0 : exitCodeOf(txn) || 4;

const act = (name: string, flags: ActFlags, { noun, annotation, refusal }: Action): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const { txn } = await readTransaction(cluster, name);
    refuseIn(txn, { Draft: nothingApplied, Proposed: nothingApplied });
    const refused = isUnread(txn) ? notRead(txn) : refusal(txn);
    if (refused !== undefined) throw new Failure(refused);
    const since = Date.now();
    const on = nameAndNamespace(txn);
    const which = `Transaction ${txn.metadata.namespace}/${txn.metadata.name}`;
    const requesting = annotate(cluster, txn, annotation);
    await interruptible(requesting, `The ${noun} of ${which} may have been requested: kubectl janus watch ${on}`);
    const output = outputTo(process.stdout);
    if (!flags.wait) {
      output.write(`The ${noun} of ${which} is requested: kubectl janus watch ${on}\n`);
      return 0;
    }
    const before = txn.status.version;
    // A finished one is over already: it is over again once the controller has served the request.
    const isOver = ({ metadata, status }: Transaction): boolean =>
      isTerminal(status.phase) &&
      (status.phase !== txn.status.phase || isServed(metadata.annotations?.[annotation], status.version, before));
    const { uid } = txn.metadata;
    return outcome(await showProgress(cluster, name, { output, former: printable(txn), isOver, uid, since }));
  });

/** The controller removes the annotation once it has recorded what comes of it. */
const isServed = (request: string | undefined, version: number, before: number): boolean =>
  request === undefined && version > before;

const acting = (name: string, action: Action) =>
  command(name)
    .argument("<name>", "name of the Transaction")
    .option("--no-wait", "do not wait until it has finished")
    .addHelpText(
      "after",
      "\nExit codes: 0 everything is as before, 3 not everything could be rolled back,\n4 it was, or is still, Committed, 5 it was deleted, or cannot be watched,\n1 it cannot be done now, 130 interrupted.",
    )
    .action((transaction: string, flags: ActFlags) => exitWith(act(transaction, flags, action)));

export const rollbackCommand = acting("rollback", ROLLBACK);
export const retryCommand = acting("retry", RETRY);
export const cancelCommand = acting("cancel", CANCEL);
