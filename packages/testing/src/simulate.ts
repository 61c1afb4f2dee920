// Runs a Transaction against a model of the API server.
import type { KubeObject } from "@janus/types";
import { runTransaction } from "./controller/run-transaction.ts";
import { printed } from "./live-objects.ts";
import type { SimulateOptions } from "./options.ts";
import { reportOf } from "./report.ts";
import type { SimulatedObject, Simulation } from "./simulation.ts";
import { stage } from "./stage.ts";
import { whyOf } from "./why.ts";

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
  const staged = stage(transaction, liveObjects, options);
  if (staged.type === "refused")
    return refusedAtOnce(
      staged.problems,
      staged.live.map((object) => printed(object as unknown as KubeObject)),
    );
  const { scene } = staged;
  return reportOf(runTransaction(scene.start, scene.scenario), scene, options.requests ?? "targets");
};
