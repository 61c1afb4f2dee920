// Decides when a Deployment is ready: its rollout is complete; and when it has failed.
import { type KubeObject, MAX_INT32 } from "@janus/types";
import { because, failed, type GateState, met, notYet } from "./gate-state.ts";
import { conditionsOf, describeCondition } from "./object-conditions.ts";
import { integerAt, valueAt } from "./read-fields.ts";

/** A Deployment with this deadline has none: its controller does not report whether it progresses. */
const NO_DEADLINE = MAX_INT32;

const rollout = (deployment: KubeObject): GateState => {
  const conditions = conditionsOf(deployment);
  const late = conditions.find(({ type, reason }) => type === "Progressing" && reason === "ProgressDeadlineExceeded");
  if (late !== undefined) return failed(because("progress deadline exceeded", late.message));

  const wanted = integerAt(deployment, "spec", "replicas") ?? 1;
  const count = (name: string): number => integerAt(deployment, "status", name) ?? 0;
  const [all, updated, available, ready] = [
    count("replicas"),
    count("updatedReplicas"),
    count("availableReplicas"),
    count("readyReplicas"),
  ];
  if (wanted > all) return notYet(`${all} of ${wanted} replicas created`);
  if (wanted > updated) return notYet(`${updated} of ${wanted} replicas updated`);
  if (all > wanted) return notYet(`old replicas still to be terminated: ${all - wanted}`);
  if (updated > available) return notYet(`${available} of ${updated} updated replicas available`);
  if (wanted > ready) return notYet(`${ready} of ${wanted} replicas ready`);

  const rolledOut =
    (integerAt(deployment, "spec", "progressDeadlineSeconds") ?? NO_DEADLINE) === NO_DEADLINE ||
    conditions.some(
      ({ type, status, reason }) => type === "Progressing" && status === "True" && reason === "NewReplicaSetAvailable",
    );
  if (!rolledOut) return notYet("the rollout is not reported as complete yet");
  if (conditions.some(({ type, status }) => type === "Available" && status === "True")) return met;
  const unavailable = conditions.find(({ type }) => type === "Available");
  return notYet(unavailable === undefined ? "not reported as available yet" : describeCondition(unavailable));
};

/**
 * Ready: all replicas are of the latest version and available, and none of an older one is left. While it is paused, its rollout does
 * not go on, so it has failed; kstatus waits.
 */
export const readyDeployment = (deployment: KubeObject): GateState => {
  const state = rollout(deployment);
  return state.type === "waiting" && valueAt(deployment, "spec", "paused") === true
    ? failed(
        `it is paused, so its rollout does not go on (${state.message}): set spec.paused to false, or do not wait for it`,
      )
    : state;
};
