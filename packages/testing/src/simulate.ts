// Runs a Transaction against a model of the API server.
import { parse, type TransactionManifest } from "@janus/authoring";
import type { KubeObject } from "@janus/types";
import { runTransaction } from "./controller/run-transaction.ts";
import { flattened, printed } from "./live-objects.ts";
import { wrongObjects, wrongOptions } from "./misuse.ts";
import type { SimulateOptions } from "./options.ts";
import { reportOf } from "./report.ts";
import { sceneOf } from "./scene.ts";
import type { SimulatedObject, Simulation } from "./simulation.ts";
import { unknownOption } from "./unknown-options.ts";
import { whyOf } from "./why.ts";

const refuse = (mistake: string | undefined): void => {
  if (mistake !== undefined) throw new TypeError(mistake);
};

/** A Transaction that was refused when it was created. */
const refusedAtOnce = (problems: readonly string[], before: readonly SimulatedObject[]): Simulation => ({
  phase: "Pending",
  why: whyOf({ phase: "Pending", problems, conditions: [], items: [] }),
  problems,
  conditions: [],
  items: [],
  events: [],
  requests: [],
  applied: [],
  rolledBack: [],
  objects: before,
  before,
});

/** As it is once it was published, whatever was approved: the digest is of the objects of a cluster. */
const published = (manifest: TransactionManifest): TransactionManifest => {
  const { approvedDigest: _, ...spec } = manifest.spec;
  return { ...manifest, spec: { ...spec, lifecycle: "Published" } };
};

/**
 * Runs a Transaction without a cluster: with the controller's own decisions, against a model of the API server
 * (docs/testing.md says what it leaves out). Takes milliseconds, and no time passes. A Draft or a proposed Transaction runs as it
 * would once it was published; `approvedDigest` is not compared.
 *
 * Assumes: its ServiceAccount exists, and so do all namespaces that are named and that no change creates or deletes; the
 *          API server serves the kinds of Kubernetes itself, those of CustomResourceDefinitions among the objects and
 *          changes, and every other custom kind that is named, as a namespaced one.
 *
 * @param transaction the manifest, as JSON or YAML gives it
 * @param liveObjects the objects that exist before, also as `kubectl get -o yaml` prints it; without a namespace, in that of the
 *   Transaction
 * @throws TypeError for live objects or options that say nothing sensible; never for what is wrong with the Transaction: that
 *   is in `problems`
 */
export const simulate = (
  transaction: unknown,
  liveObjects: readonly SimulatedObject[] = [],
  options: SimulateOptions = {},
): Simulation => {
  refuse(unknownOption(options));
  const live = flattened(liveObjects);
  refuse(wrongObjects(live));
  const parsed = parse(transaction);
  if (!parsed.ok)
    return refusedAtOnce(
      parsed.errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)),
      live.map((object) => printed(object as unknown as KubeObject)),
    );
  const transactionToRun = published(parsed.value);
  refuse(wrongOptions(transactionToRun, live, options));
  const scene = sceneOf(transactionToRun, live, options);
  return reportOf(runTransaction(scene.start, scene.scenario), scene, options.requests ?? "targets");
};
