// Refuses a command in a lifecycle that does not allow it, and names the command to use instead.
import type { Transaction } from "@janus/api";
import { isTerminal } from "@janus/controller";
import { Failure } from "../failure.ts";

type Lifecycle = Transaction["spec"]["lifecycle"];

/** Says what to do instead, where a Transaction is this. */
type Instead = (on: string, txn: Transaction) => string;

/** `web -n shop`, for commands. */
export const nameAndNamespace = ({ metadata }: Transaction): string => `${metadata.name} -n ${metadata.namespace}`;

/** A published Transaction is seen to the end, or taken back. */
export const published: Instead = (on, { status: { phase } }) =>
  isTerminal(phase)
    ? `it has been executed (${phase}). To see how it went: kubectl janus explain ${on}`
    : `it is being executed (${phase}). To watch it: kubectl janus watch ${on}; ` +
      `to roll it back: kubectl janus rollback ${on}`;

/** Refuses what the lifecycle does not allow. Errors: if it is one of these. */
export const refuseIn = (txn: Transaction, refused: Readonly<Partial<Record<Lifecycle, Instead>>>): void => {
  const { metadata, spec } = txn;
  const instead = refused[spec.lifecycle];
  if (instead === undefined) return;
  const is = spec.lifecycle === "Draft" ? "a Draft" : spec.lifecycle;
  throw new Failure(
    `Transaction ${metadata.namespace}/${metadata.name} is ${is}: ${instead(nameAndNamespace(txn), txn)}`,
  );
};
