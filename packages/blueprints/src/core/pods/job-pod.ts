// The Pod of a phase, as Kanister makes it: name, labels, ServiceAccount and overrides.
import { asObject, equal, isObject, type JsonObject, type KubeObject, pods } from "@janus/types";

import { ACTION_SET_UID, MADE_BY } from "../../api/names.ts";
import type { Effect } from "../effect.ts";
import { shortHash } from "../names.ts";
import { factOf, madeBy, type PhaseContext, WATCHED } from "../phase-context.ts";
import { create, get, ownerOf, patch, type ObjectRef, secrets } from "../requests.ts";
import type { Text } from "../text.ts";
import { concealed } from "./secret-words.ts";
import { strategicMerge } from "./strategic-merge.ts";

export interface JobContainer {
  readonly name: string;
  readonly image: string;
  readonly command: readonly Text[];
}

export interface JobPod {
  /** The prefix of the name, such as `kanister-job-`. */
  readonly prefix: string;
  readonly namespace: string;
  /** The first one's log has the outputs. */
  readonly containers: readonly [JobContainer, ...(readonly JobContainer[])];
  readonly initContainers?: readonly JobContainer[];
  readonly volumes?: readonly JsonObject[];
  /** The mounts of the volumes in each container. */
  readonly mounts?: readonly JsonObject[];
  /** Variables of the containers that nobody but their processes may see. */
  readonly secretEnv?: Readonly<Record<string, string>>;
  /** A command that fails is as good as one that does not. */
  readonly mayFail?: boolean;
  /** Default: that of the ActionSet in its own namespace, else `default`. */
  readonly serviceAccount?: string;
  readonly override?: JsonObject;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The container of a function that has one. */
export const CONTAINER = "container";

/** Names the Pod: nobody knows the name before the Pod exists, and so nobody can take it first. */
const nameOf = (context: PhaseContext, prefix: string): string => {
  const { seed, part } = context;
  return `${prefix}${shortHash(`${seed}/${madeBy(context)}${part === undefined ? "" : `/${part}`}`)}`;
};

export const podRef = (context: PhaseContext, { prefix, namespace }: JobPod): ObjectRef => ({
  resource: pods,
  namespace,
  name: nameOf(context, prefix),
});

/** The owner must be in the same namespace. */
const owners = ({ actionSet }: PhaseContext, namespace: string): JsonObject =>
  namespace === actionSet.metadata.namespace ? { ownerReferences: [ownerOf(actionSet)] } : {};

/** The ServiceAccount of the Pod, never the controller's: the wanted one, else that of the ActionSet, or `default` elsewhere. */
const identity = ({ actionSet, serviceAccount }: PhaseContext, pod: JobPod): JsonObject => ({
  serviceAccountName: pod.serviceAccount ?? (pod.namespace === actionSet.metadata.namespace ? serviceAccount : DEFAULT),
});

const DEFAULT = "default";

/** Gives a Pod in another namespace no token, unless its ServiceAccount is named. */
const withoutToken = ({ actionSet }: PhaseContext, namespace: string, spec: JsonObject): JsonObject =>
  namespace === actionSet.metadata.namespace || spec["serviceAccountName"] !== DEFAULT
    ? spec
    : { automountServiceAccountToken: false, ...spec };

const argsSecret = (context: PhaseContext, { prefix }: JobPod): string => `${nameOf(context, prefix)}-args`;

const concealedOf = (context: PhaseContext, pod: JobPod): ReturnType<typeof concealed> => {
  const { secretEnv = {} } = pod;
  const { values, ...words } = concealed(
    allOf(pod).flatMap(({ command }) => command),
    argsSecret(context, pod),
  );
  return { ...words, values: { ...values, ...secretEnv } };
};

const secretEnvOf = (context: PhaseContext, pod: JobPod): readonly JsonObject[] =>
  Object.keys(pod.secretEnv ?? {}).map((name) => ({
    name,
    valueFrom: { secretKeyRef: { name: argsSecret(context, pod), key: name } },
  }));

/** Returns all containers, in the order of the words of all commands. */
const allOf = ({ containers, initContainers = [] }: JobPod): readonly JobContainer[] => [
  ...containers,
  ...initContainers,
];

/** The containers as the Pod has them, each with the variables of its own words. */
const containersOf = (context: PhaseContext, pod: JobPod): readonly JsonObject[] => {
  const { words, env } = concealedOf(context, pod);
  const { mounts = [] } = pod;
  let from = 0;
  return allOf(pod).map(({ name, image, command }): JsonObject => {
    const own = words.slice(from, (from += command.length));
    const used = [...env.filter((one) => own.includes(`$(${one["name"] as string})`)), ...secretEnvOf(context, pod)];
    return {
      name,
      image,
      imagePullPolicy: "IfNotPresent",
      command: own,
      ...(used.length === 0 ? {} : { env: used }),
      ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
    };
  });
};

const specOf = (context: PhaseContext, pod: JobPod): JsonObject => {
  const all = containersOf(context, pod);
  const { length } = pod.containers;
  const spec: JsonObject = {
    restartPolicy: "Never",
    // The kubelet ends the Pod if no controller is there, which would do so a minute earlier, and say why.
    ...(context.allowed === undefined ? {} : { activeDeadlineSeconds: Math.ceil(context.allowed / 1000) + 60 }),
    ...identity(context, pod),
    containers: all.slice(0, length),
    ...(all.length === length ? {} : { initContainers: all.slice(length) }),
    ...(pod.volumes === undefined ? {} : { volumes: pod.volumes }),
  };
  const merged = strategicMerge(strategicMerge(spec, pod.override ?? {}), context.pod.override);
  // Taken away, it would be that of the API server: Always.
  return withoutToken(context, pod.namespace, { restartPolicy: "Never", ...merged });
};

/** Says how a podOverride would run a command more than once. Undefined: it does not. */
export const restartsOf = (context: PhaseContext, pod: JobPod): string | undefined => {
  const { restartPolicy, containers, initContainers } = specOf(context, pod);
  if (restartPolicy !== "Never") return `restartPolicy ${JSON.stringify(restartPolicy).replaceAll('"', "")}`;
  const own = allOf(pod).map(({ name }) => name);
  const restarted = [containers, initContainers]
    .flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))
    .find(
      (one) =>
        own.includes(one["name"] as string) &&
        ((one["restartPolicy"] ?? "Never") !== "Never" || (one["restartPolicyRules"] ?? null) !== null),
    );
  return restarted && `the restartPolicy of container "${restarted["name"] as string}"`;
};

/** The gate that keeps a Pod from being scheduled before its uid is in the journal. */
const GATE = "janus.io/recorded";

const gatesOf = ({ schedulingGates }: JsonObject): readonly JsonObject[] =>
  Array.isArray(schedulingGates) ? (schedulingGates as readonly JsonObject[]) : [];

const mayHaveGate = (spec: JsonObject): boolean => spec["nodeName"] === undefined;

/**
 * Adds a gate: a creation that was given up may land when another Pod has run the command, and is gone. A Pod that names its node
 * passes the scheduler by, and may have no gates.
 */
const gated = (spec: JsonObject): JsonObject =>
  mayHaveGate(spec) ? { ...spec, schedulingGates: [...gatesOf(spec), { name: GATE }] } : spec;

const bodyOf = (context: PhaseContext, pod: JobPod): KubeObject => {
  const { namespace, labels = {}, annotations = {} } = pod;
  const { labels: askedLabels, annotations: askedAnnotations } = context.pod;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: nameOf(context, pod.prefix),
      namespace,
      labels: {
        createdBy: "kanister",
        ...askedLabels,
        ...labels,
        [ACTION_SET_UID]: context.actionSet.metadata.uid,
      },
      annotations: { ...askedAnnotations, ...annotations, [MADE_BY]: madeBy(context) },
      ...owners(context, namespace),
    },
    spec: gated(specOf(context, pod)),
  };
};

export const createPod = (context: PhaseContext, pod: JobPod): Effect =>
  create("create-pod", factOf(context, WATCHED), pods, bodyOf(context, pod), context.serviceAccount);

export const readPod = (context: PhaseContext, pod: JobPod): Effect =>
  get("read-pod", factOf(context, WATCHED), podRef(context, pod), context.serviceAccount);

/** Tells whether it is made with a gate. */
export const hasGate = (context: PhaseContext, pod: JobPod): boolean => mayHaveGate(specOf(context, pod));

export const isGated = ({ spec }: KubeObject): boolean => gatesOf(asObject(spec)).some(({ name }) => name === GATE);

/** Lets the scheduler have this Pod, and no other of its name. */
export const openGate = (context: PhaseContext, pod: JobPod, { metadata: { uid = "" }, spec }: KubeObject): Effect => {
  const others = gatesOf(asObject(spec)).filter(({ name }) => name !== GATE);
  const body = { metadata: { uid }, spec: { schedulingGates: others.length === 0 ? null : others } };
  const { serviceAccount } = context;
  return patch("start-pod", factOf(context, WATCHED), "mergePatch", podRef(context, pod), body, serviceAccount);
};

/** The Secret with what the command must not show, which the Pod waits for, and which goes with it. Undefined: there is none. */
export const createArgs = (context: PhaseContext, pod: JobPod, uid: string): Effect | undefined => {
  const { values } = concealedOf(context, pod);
  if (Object.keys(values).length === 0) return undefined;
  const { name, namespace = "" } = podRef(context, pod);
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: argsSecret(context, pod),
      namespace,
      labels: { [ACTION_SET_UID]: context.actionSet.metadata.uid },
      annotations: { [MADE_BY]: madeBy(context) },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    },
    stringData: values,
  } as unknown as KubeObject;
  return create("create-args", factOf(context, "args"), secrets, body, context.serviceAccount);
};

export const readArgs = (context: PhaseContext, pod: JobPod): Effect => {
  const { namespace = "" } = podRef(context, pod);
  const ref = { resource: secrets, namespace, name: argsSecret(context, pod) };
  return get("read-args", factOf(context, "args-made"), ref, context.serviceAccount);
};

/** Tells whether it has the values of this attempt: somebody else may have made it, once the name was to be seen. */
export const isArgs = (context: PhaseContext, pod: JobPod, secret: KubeObject): boolean => {
  const encoded = Object.entries(concealedOf(context, pod).values).map(([key, value]) => [
    key,
    Buffer.from(value).toString("base64"),
  ]);
  return equal(secret["data"], Object.fromEntries(encoded));
};

/** Tells whether this attempt has made it. */
export const isOurs = (context: PhaseContext, { metadata: { annotations = {} } }: KubeObject): boolean =>
  annotations[MADE_BY] === madeBy(context);
