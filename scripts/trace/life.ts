// Runs the Transaction of some files in the model of the API server, and keeps each decision with who has made it.
import { readFileSync } from "node:fs";
import type { Manifest } from "../../packages/authoring/src/manifest.ts";
import { parseManifests } from "../../packages/cli/src/manifests/read-manifests.ts";
import { type Turn, turns } from "../../packages/testing/src/controller/run-transaction.ts";
import type { SimulatedObject } from "../../packages/testing/src/simulation.ts";
import { stage } from "../../packages/testing/src/stage.ts";
import { type Maker, makersOf } from "./makers.ts";

/** What goes wrong. */
export interface Misfortunes {
  /** The index of the change that the API server refuses. */
  readonly failAt?: number;
  /** The request, counted from 1, before whose answer the controller is killed. */
  readonly crashAt?: number;
}

/** One decision. */
export interface Decision extends Turn {
  /** The functions that led to it, the outermost first. */
  readonly makers: readonly Maker[];
}

/**
 * Returns every decision, in order.
 *
 * @param files a Transaction, and the objects that exist before
 * @throws Error for files without exactly one Transaction, and for one that the API server would refuse
 */
export const lifeOf = (files: readonly string[], { failAt, crashAt }: Misfortunes): readonly Decision[] => {
  const all = files.flatMap((file) => parseManifests(readFileSync(file), file)).map(({ manifest }) => manifest);
  const transactions = all.filter(isTransaction);
  if (transactions.length !== 1)
    throw new Error(`${files.join(", ")}: ${transactions.length} Transactions, and there must be one`);
  const objects = all.filter((manifest) => !isTransaction(manifest)) as unknown as readonly SimulatedObject[];
  const staged = stage(transactions[0], objects, failAt === undefined ? {} : { failAt });
  if (staged.type === "refused")
    throw new Error(`the API server refuses the Transaction: ${staged.problems.join("; ")}`);
  const { start, scenario } = staged.scene;
  const life: Decision[] = [];
  for (const turn of turns(start, crashAt === undefined ? scenario : { ...scenario, crashAt }))
    life.push({ ...turn, makers: makersOf(turn.step) });
  const sent = life.at(-1)?.after.requests.length ?? 0;
  if (crashAt !== undefined && crashAt > sent)
    throw new Error(`there is no request ${crashAt}: the Transaction ends after ${sent}`);
  return life;
};

const isTransaction = ({ kind, apiVersion }: Manifest): boolean =>
  kind === "Transaction" && apiVersion.startsWith("backup.janus.io/");
