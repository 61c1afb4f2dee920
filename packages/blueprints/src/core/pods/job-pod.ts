// The Pod of a phase, as Kanister makes it: name, labels, ServiceAccount and overrides.
import { equal, type JsonObject, type KubeObject, pods } from "@janus/types";

import { ACTION_SET_UID, MADE_BY } from "../../api/names.ts";
import type { Effect } from "../effect.ts";
import { shortHash } from "../names.ts";
import { factOf, madeBy, type PhaseContext, WATCHED } from "../phase-context.ts";
import { create, get, ownerOf, type ObjectRef, secrets } from "../requests.ts";
import type { Text } from "../text.ts";
import { concealed } from "./secret-words.ts";
import { strategicMerge } from "./strategic-merge.ts";

export interface JobPod {
  /** Of the name, such as `kanister-job-`. */
  readonly prefix: string;
  readonly namespace: string;
  readonly image: string;
  readonly command: readonly Text[];
  readonly override?: JsonObject;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The container of a function that has one. */
export const CONTAINER = "container";

/** Nobody knows it before the Pod is there, and so nobody can be there before it. */
const nameOf = (context: PhaseContext, prefix: string): string =>
  `${prefix}${shortHash(`${context.seed}/${madeBy(context)}`)}`;

export const podRef = (context: PhaseContext, { prefix, namespace }: JobPod): ObjectRef => ({
  resource: pods,
  namespace,
  name: nameOf(context, prefix),
});

/** The owner must be in the same namespace. */
const owners = ({ actionSet }: PhaseContext, namespace: string): JsonObject =>
  namespace === actionSet.metadata.namespace ? { ownerReferences: [ownerOf(actionSet)] } : {};

/** Never the controller's: that of the ActionSet in its own namespace; elsewhere the default one. */
const identity = ({ actionSet, serviceAccount }: PhaseContext, namespace: string): JsonObject => ({
  serviceAccountName: namespace === actionSet.metadata.namespace ? serviceAccount : DEFAULT,
});

const DEFAULT = "default";

/** In another namespace it has a token only where a podOverride names its ServiceAccount. */
const withoutToken = ({ actionSet }: PhaseContext, namespace: string, spec: JsonObject): JsonObject =>
  namespace === actionSet.metadata.namespace || spec["serviceAccountName"] !== DEFAULT
    ? spec
    : { automountServiceAccountToken: false, ...spec };

const argsSecret = (context: PhaseContext, { prefix }: JobPod): string => `${nameOf(context, prefix)}-args`;

const concealedOf = (context: PhaseContext, pod: JobPod): ReturnType<typeof concealed> =>
  concealed(pod.command, argsSecret(context, pod));

const specOf = (context: PhaseContext, pod: JobPod): JsonObject => {
  const { words, env } = concealedOf(context, pod);
  const spec: JsonObject = {
    restartPolicy: "Never",
    // Where no controller is there to end it. One that is, is told why.
    ...(context.timeout === undefined ? {} : { activeDeadlineSeconds: Math.ceil(context.timeout / 1000) + 60 }),
    ...identity(context, pod.namespace),
    containers: [
      {
        name: CONTAINER,
        image: pod.image,
        imagePullPolicy: "IfNotPresent",
        command: words,
        ...(env.length === 0 ? {} : { env }),
      },
    ],
  };
  return withoutToken(
    context,
    pod.namespace,
    strategicMerge(strategicMerge(spec, pod.override ?? {}), context.pod.override),
  );
};

/** The one that a podOverride asks for. */
export const restartPolicyOf = (context: PhaseContext, pod: JobPod): string => {
  const { restartPolicy = "Never" } = specOf(context, pod);
  return restartPolicy as string;
};

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
    spec: specOf(context, pod),
  };
};

export const createPod = (context: PhaseContext, pod: JobPod): Effect =>
  create("create-pod", factOf(context, WATCHED), pods, bodyOf(context, pod), context.serviceAccount);

export const readPod = (context: PhaseContext, pod: JobPod): Effect =>
  get("read-pod", factOf(context, WATCHED), podRef(context, pod), context.serviceAccount);

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

/** Whether it has the values of this attempt: somebody else may have made it, once the name was to be seen. */
export const isArgs = (context: PhaseContext, pod: JobPod, secret: KubeObject): boolean => {
  const encoded = Object.entries(concealedOf(context, pod).values).map(([key, value]) => [
    key,
    Buffer.from(value).toString("base64"),
  ]);
  return equal(secret["data"], Object.fromEntries(encoded));
};

/** Whether this attempt has made it. */
export const isOurs = (context: PhaseContext, { metadata: { annotations = {} } }: KubeObject): boolean =>
  annotations[MADE_BY] === madeBy(context);
