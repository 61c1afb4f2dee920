import { isObject, type KubeObject, member } from "@janus/types";
import { readyCustomResourceDefinition } from "./custom-resource-definition.ts";
import { readyDaemonSet } from "./daemon-set.ts";
import { readyDeployment } from "./deployment.ts";
import { because, failed, type GateState, met, notYet } from "./gate-state.ts";
import { readyJob } from "./job.ts";
import { conditionsOf, describeCondition } from "./object-conditions.ts";
import { readyPersistentVolumeClaim } from "./persistent-volume-claim.ts";
import { readyPod } from "./pod.ts";
import { integerAt, textAt, valueAt } from "./read-fields.ts";
import { readyReplicaSet } from "./replica-set.ts";
import { readyService } from "./service.ts";
import { readyStatefulSet } from "./stateful-set.ts";

/** Has no state of its own that could be waited for, though it may have conditions. */
const readyAtOnce = (): GateState => met;

/** The kinds with a rule of their own, by group and kind. */
const RULES: Readonly<Record<string, (object: KubeObject) => GateState>> = {
  "/ConfigMap": readyAtOnce,
  "/PersistentVolumeClaim": readyPersistentVolumeClaim,
  "/Pod": readyPod,
  "/Secret": readyAtOnce,
  "/Service": readyService,
  "apiextensions.k8s.io/CustomResourceDefinition": readyCustomResourceDefinition,
  "apps/DaemonSet": readyDaemonSet,
  "apps/Deployment": readyDeployment,
  "apps/ReplicaSet": readyReplicaSet,
  "apps/StatefulSet": readyStatefulSet,
  "batch/CronJob": readyAtOnce,
  "batch/Job": readyJob,
  "policy/PodDisruptionBudget": readyAtOnce,
};

/** Any other kind is ready when it says so, or says nothing: not every kind has a state. */
const readyByCondition = (object: KubeObject): GateState => {
  const condition = conditionsOf(object).find(
    ({ type, status }) => type === "Ready" && (status === "True" || status === "False" || status === "Unknown"),
  );
  return condition === undefined || condition.status === "True" ? met : notYet(describeCondition(condition));
};

const ruleFor = (object: KubeObject): ((object: KubeObject) => GateState) => {
  const group = textAt(object, "apiVersion").split("/").slice(0, -1).join("/");
  const name = `${group}/${textAt(object, "kind")}`;
  return (Object.hasOwn(RULES, name) ? RULES[name] : undefined) ?? readyByCondition;
};

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const isText = (value: unknown): boolean => isAbsent(value) || typeof value === "string";
const isInteger = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value);

const isCondition = (value: unknown): boolean =>
  isAbsent(value) ||
  (isObject(value) && ["type", "status", "reason", "message"].every((name) => isText(member(value, name))));

/** Whether it says of itself what every object may say, and in the form in which all do. */
const isReadable = (object: KubeObject): boolean => {
  const status = valueAt(object, "status");
  const conditions = valueAt(status, "conditions");
  const generation = valueAt(object, "metadata", "generation");
  return (
    isInteger(generation) &&
    (generation === undefined || isInteger(valueAt(status, "observedGeneration"))) &&
    (isAbsent(status) || isObject(status)) &&
    (isAbsent(conditions) || (Array.isArray(conditions) && conditions.every(isCondition)))
  );
};

/**
 * Whether the object is in the state that its spec describes, by the rules of kstatus (https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus),
 * by which Flux and Helm decide, too. It differs where users expect something else of ready: see Job, Pod and Service.
 * `tests/gates/kstatus.test.ts` holds it against that library.
 */
export const ready = (object: KubeObject): GateState => {
  if (textAt(object, "metadata", "deletionTimestamp") !== "") return notYet("is being deleted");
  if (!isReadable(object)) return notYet("its status cannot be read");

  const generation = integerAt(object, "metadata", "generation");
  const observed = integerAt(object, "status", "observedGeneration");
  if (generation !== undefined && observed !== undefined && observed !== generation)
    return notYet(`its controller has seen generation ${observed}, not yet ${generation}`);

  for (const { type, status, reason, message } of conditionsOf(object)) {
    if (type === "Reconciling" && status === "True") return notYet(because("reconciling", reason, message));
    if (type === "Stalled" && status === "True") return failed(because("stalled", reason, message));
  }
  return ruleFor(object)(object);
};
