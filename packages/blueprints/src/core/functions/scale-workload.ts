// ScaleWorkload: sets the replicas of a workload, and waits until it has them.
import { asObject, isAbsent, type Json, type KubeObject, messageOf, pods } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectReference } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import { changeOf, changeVerbs } from "../atomic/change.ts";
import { inTransaction } from "../atomic/in-transaction.ts";
import { nameOf } from "../made-object.ts";
import type { Effect } from "../effect.ts";
import { isWorkload, KINDS, listed, selectorOf } from "../object-lookup.ts";
import {
  type Access,
  inquiryOf,
  type KanisterFunction,
  type PhaseContext,
  type PhaseStep,
  WATCHED,
} from "../phase-context.ts";
import { deployments, get, type ObjectRef, patch } from "../requests.ts";

const args = {
  replicas: { type: "integer", isRequired: true, about: "How many Pods it is to have." },
  namespace: { type: "text", about: "Of the workload. Default: that of the object of the action." },
  name: { type: "text", about: "Of the workload. Default: that of the object of the action." },
  kind: {
    type: "text",
    about: "StatefulSet, Deployment or DeploymentConfig. Default: that of the object of the action.",
  },
  waitForReady: { type: "boolean", about: "Whether it ends only when that many Pods are ready. Default: true." },
} as const satisfies ArgTable;

const fail = (message: string): PhaseStep => ({ type: "fail", message });

const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

/** Finds the workload: by the arguments, else the object of the action. Left: what is missing. */
const workloadOf = (
  { namespace, name, kind }: Partial<Args<typeof args>>,
  { object = {} }: Pick<PhaseContext, "object">,
): E.Either<string, ObjectRef> => {
  const own = isWorkload(KINDS[(object.kind ?? "").toLowerCase()] ?? { plural: "" }) ? object : {};
  const [place, called, of] = [
    given(namespace) ?? given(own.namespace),
    given(name) ?? given(own.name),
    given(kind) ?? given(own.kind),
  ];
  if (place === undefined || called === undefined || of === undefined)
    return E.left(
      "namespace, name and kind are required args, unless the object of the action is a StatefulSet, Deployment or DeploymentConfig",
    );
  const resource = KINDS[of.toLowerCase()];
  return resource === undefined || !isWorkload(resource)
    ? E.left(`args.kind must be StatefulSet, Deployment or DeploymentConfig, not "${of}"`)
    : E.right({ resource, namespace: place, name: called });
};

const countIn = (fields: Json | undefined, name: string): number => {
  const count = asObject(fields)[name];
  return typeof count === "number" ? count : 0;
};

/** Says why a workload is not ready; undefined: all its Pods are there, ready and of its latest version. */
export const notReady = ({ kind, metadata, ...workload }: KubeObject, replicas: number): string | undefined => {
  const [spec, status] = [asObject(workload["spec"]), asObject(workload["status"])];
  const observed = status["observedGeneration"];
  if (typeof observed === "number" && observed < (metadata.generation ?? 0))
    return "its controller has not seen the change yet";
  const wanted = countIn(spec, "replicas");
  if (wanted !== replicas) return `its replicas are set to ${wanted}, not to ${replicas}`;
  const [all, ready, leaving] = [
    countIn(status, "replicas"),
    countIn(status, "readyReplicas"),
    countIn(status, "terminatingReplicas"),
  ];
  if (all > wanted || leaving > 0) return `${Math.max(all - wanted, 0) + leaving} Pods are still to end`;
  if (ready < wanted) return `${ready} of ${wanted} Pods are ready`;
  const available = countIn(status, "availableReplicas");
  if (kind === "Deployment" && available < wanted) return `${available} of ${wanted} Pods are available`;
  const isOnDelete = asObject(spec["updateStrategy"])["type"] === "OnDelete";
  const updated = countIn(status, "updatedReplicas");
  return updated < wanted && !isOnDelete ? `${updated} of ${wanted} Pods are of the latest version` : undefined;
};

/** The pause before Pods that still end are looked for again, in ms. */
const PAUSE = 1000;

/** Tells whether its status counts the Pods that still end: that of Deployments does since Kubernetes 1.35. */
const countsEnding = ({ kind, ...workload }: KubeObject): boolean =>
  kind !== "Deployment" || asObject(workload["status"])["terminatingReplicas"] !== undefined;

const listPods = (workload: KubeObject, fact: string, as: string): Effect => ({
  purpose: "list-pods",
  fact,
  as,
  request: {
    verb: "list",
    resource: pods,
    namespace: workload.metadata.namespace ?? "",
    labelSelector: selectorOf(workload),
    metadataOnly: true,
  },
});

const scale = (read: Args<typeof args>, context: PhaseContext): PhaseStep => {
  const { replicas, waitForReady = true } = read;
  const { remembered, serviceAccount } = context;
  if (replicas < 0) return fail("args.replicas must not be negative");
  const ref = workloadOf(read, context);
  if (E.isLeft(ref)) return fail(ref.left);
  const shown = nameOf(ref.right);
  const { ask, missing } = inquiryOf(context);
  const run: PhaseStep = { type: "run", effects: missing };
  const original = remembered["replicas"];
  if (typeof original !== "number") {
    const before = ask(get("read-scale", "before", ref.right, serviceAccount, "scale"));
    if (before === undefined) return run;
    if (E.isLeft(before))
      return fail(isAbsent(before.left) ? `${shown} not found` : `${shown} cannot be read: ${messageOf(before.left)}`);
    return {
      type: "remember",
      remembered: { ...remembered, replicas: countIn(before.right["spec"] as Json, "replicas") },
    };
  }
  const end: PhaseStep = { type: "end", output: { originalReplicaCount: `${original}` } };
  const content = { spec: { replicas } };
  if (context.isAtomic) {
    const change = { ...changeOf("Patch", ref.right, content), ...(waitForReady ? { waitFor: ["ready"] } : {}) };
    const step = inTransaction(context, [change]);
    if (step !== undefined) return step;
  } else {
    const scaled = ask(patch("scale", "scale", "mergePatch", ref.right, content, serviceAccount, "scale"));
    if (scaled === undefined) return run;
    if (E.isLeft(scaled)) return fail(`${shown} cannot be scaled: ${messageOf(scaled.left)}`);
  }
  if (!waitForReady) return end;
  const workload = ask(get("read-workload", WATCHED, ref.right, serviceAccount));
  if (workload === undefined) return run;
  if (E.isLeft(workload)) return fail(`${shown} cannot be read: ${messageOf(workload.left)}`);
  const why = notReady(workload.right, replicas);
  if (why !== undefined)
    return {
      type: "wait",
      until: Number.POSITIVE_INFINITY,
      because: `${shown} is not ready: ${why}`,
      watched: [{ ref: ref.right, resourceVersion: workload.right.metadata.resourceVersion }],
    };
  if (replicas >= original || countsEnding(workload.right)) return end;
  const turn = Math.floor((context.now - context.startedAt) / PAUSE);
  const there = ask(listPods(workload.right, `pods/${turn}`, serviceAccount));
  if (there === undefined) return run;
  const ending = listed(there).filter((pod) => asObject(pod["metadata"])["deletionTimestamp"] !== undefined);
  return ending.length === 0
    ? end
    : {
        type: "wait",
        until: context.startedAt + (turn + 1) * PAUSE,
        because: `${shown} is not ready: ${ending.length} Pods are still to end`,
      };
};

/** No workload has this name: it is not known. */
const UNKNOWN = "*";

/** The workload that it scales, as far as that is known. */
const knownWorkload = (read: Partial<Args<typeof args>>, object: ObjectReference = {}): E.Either<string, ObjectRef> =>
  E.alt(() => workloadOf({ ...read, name: UNKNOWN }, { object }))(workloadOf(read, { object }));

const access = (verb: string, { resource, namespace = "", name }: ObjectRef, subresource?: string): Access => ({
  verb,
  group: resource.group,
  resource: resource.plural,
  namespace,
  ...(name === UNKNOWN ? {} : { name }),
  ...(subresource === undefined ? {} : { subresource }),
});

/**
 * Guarantees: the original replicas are in the journal before anything is changed, so that a restart does not take its own for them;
 *             when it has waited, Pods that were too many have ended, so that their volumes may be used.
 */
export const scaleWorkload: KanisterFunction<typeof args> = {
  about: "Sets the replicas of a StatefulSet, Deployment or DeploymentConfig, and waits until it is ready.",
  args,
  outputs: "originalReplicaCount: the replicas before.",
  access: (read, _, object) => {
    const ref = knownWorkload(read, object);
    if (E.isLeft(ref)) return [];
    const { resource, namespace = "" } = ref.right;
    const mayList = resource === deployments && read.waitForReady !== false;
    return [
      access("get", ref.right),
      ...["get", "patch"].map((verb) => access(verb, ref.right, "scale")),
      ...(mayList ? [{ verb: "list", group: pods.group, resource: pods.plural, namespace }] : []),
    ];
  },
  named: (_, isAtomic) => [
    {
      verbs: isAtomic ? changeVerbs("Patch") : ["get"],
      at: "args.kind",
      objects: `a workload, get ${isAtomic ? "" : "and patch "}on its subresource scale${isAtomic ? "" : ", and for a Deployment list on pods"}: neither args.kind nor the kind of the action says what it is`,
    },
  ],
  atomic: {
    access: (read, _, object) => {
      const ref = knownWorkload(read, object);
      return E.isLeft(ref)
        ? []
        : [...changeVerbs("Patch").map((verb) => access(verb, ref.right)), access("get", ref.right, "scale")];
    },
    problems: () => [],
  },
  step: scale,
};
