// Decides when any object is ready, by the rule of its kind or by its conditions.
import { isObject, type KubeObject, member } from "@janus/types";
import { readyCustomResourceDefinition } from "./custom-resource-definition.ts";
import { readyDaemonSet } from "./daemon-set.ts";
import { readyDeployment } from "./deployment.ts";
import { because, failed, type GateState, met, notYet } from "./gate-state.ts";
import { readyJob } from "./job.ts";
import { conditionsOf, describeCondition } from "./object-conditions.ts";
import { readyPersistentVolumeClaim } from "./persistent-volume-claim.ts";
import { readyPod } from "./pod.ts";
import { generationAt, textAt, valueAt } from "./read-fields.ts";
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

const isCondition = (value: unknown): boolean =>
  isAbsent(value) ||
  (isObject(value) && ["type", "status", "reason", "message"].every((name) => isText(member(value, name))));

/** The field by which it cannot be told of which generation its status is, and what is wrong with it; undefined: it can be told. */
const unreadableGeneration = (object: KubeObject): string | undefined => {
  const status = valueAt(object, "status");
  const isGeneration = (...path: readonly string[]): boolean =>
    valueAt(object, ...path) === undefined || generationAt(object, ...path) !== undefined;
  if (!isAbsent(status) && !isObject(status)) return "status is no object";
  if (!isGeneration("metadata", "generation")) return "metadata.generation is no integer";
  return valueAt(object, "metadata", "generation") === undefined || isGeneration("status", "observedGeneration")
    ? undefined
    : "status.observedGeneration is no integer";
};

/** The same of its conditions. */
const unreadableConditions = (object: KubeObject): string | undefined => {
  const conditions = valueAt(object, "status", "conditions");
  if (isAbsent(conditions)) return undefined;
  if (!Array.isArray(conditions)) return "status.conditions is no list";
  const at = conditions.findIndex((condition) => !isCondition(condition));
  return at < 0
    ? undefined
    : `status.conditions[${at}] is no condition with the texts type, status, reason and message`;
};

const cannotBeTold = (malformed: string): GateState =>
  failed(`${malformed}, so that ready cannot be told: wait for a condition=… or a jsonpath=… instead`);

/**
 * Whether the object is in the state that its spec describes, by the rules of kstatus (https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus),
 * by which Flux and Helm decide, too. It differs where users expect something else of ready: see Job, Pod and Service.
 * `tests/gates/kstatus.test.ts` holds it against that library.
 */
export const ready = (object: KubeObject): GateState => {
  if (textAt(object, "metadata", "deletionTimestamp") !== "") return notYet("is being deleted");
  const generationMistake = unreadableGeneration(object);
  if (generationMistake !== undefined) return cannotBeTold(generationMistake);

  const generation = generationAt(object, "metadata", "generation");
  const observed = generationAt(object, "status", "observedGeneration");
  if (generation !== undefined && observed !== undefined && observed !== generation)
    return notYet(`its controller has seen generation ${observed}, not yet ${generation}`);
  const conditionMistake = unreadableConditions(object);
  if (conditionMistake !== undefined) return cannotBeTold(conditionMistake);

  for (const { type, status, reason, message } of conditionsOf(object)) {
    if (type === "Reconciling" && status === "True") return notYet(because("reconciling", reason, message));
    if (type === "Stalled" && status === "True") return failed(because("stalled", reason, message));
  }
  return ruleFor(object)(object);
};

/** Whether it can never become ready any more, as it reports itself: what cannot be read of it reports nothing. */
export const hasFailed = (object: KubeObject): GateState | undefined => {
  const isReadable = unreadableGeneration(object) === undefined && unreadableConditions(object) === undefined;
  const state = isReadable ? ready(object) : met;
  return state.type === "failed" ? state : undefined;
};
