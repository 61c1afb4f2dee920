// Finds where the object of an action is served, by the kind that an ActionSet names, and the Pods that templates see of a workload.
import {
  asObject,
  isDnsLabel,
  isDnsSubdomain,
  isObject,
  isUnserved,
  type Json,
  type JsonObject,
  type KubeObject,
  messageOf,
  pods,
  type Resource,
} from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectReference } from "../api/object-reference.ts";
import type { Effect } from "./effect.ts";
import type { Answer } from "./memory.ts";
import {
  claims,
  deployments,
  get,
  type Inquiry,
  namespaces,
  type ObjectRef,
  replicaSets,
  statefulSets,
} from "./requests.ts";

/** The kinds that Kanister names without an apiVersion, and no `constructor`. Compared without case. */
export const KINDS: Readonly<Record<string, Resource>> = Object.assign(Object.create(null) as object, {
  statefulset: statefulSets,
  deployment: deployments,
  deploymentconfig: {
    group: "apps.openshift.io",
    version: "v1",
    plural: "deploymentconfigs",
    kind: "DeploymentConfig",
    namespaced: true,
    statusSubresource: true,
  },
  pvc: claims,
  persistentvolumeclaim: claims,
  namespace: namespaces,
});

const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

/** The kinds whose names templates know, such as `.StatefulSet`, by the kind that the ActionSet names. */
export const templateKind = ({ kind }: ObjectReference): string | undefined => {
  const resource = KINDS[(kind ?? "").toLowerCase()];
  return resource === claims ? "PVC" : resource?.kind;
};

const kindNamed = (name: string): string => KINDS[name.toLowerCase()]?.kind ?? name.toLowerCase();

/** Whether a reference is of this kind, whatever the case; `pvc` is PersistentVolumeClaim. */
export const isOfKind = (kind: string, { kind: actual = "" }: ObjectReference): boolean =>
  kindNamed(kind) === kindNamed(actual);

/** An answer that is still missing, what was found, or why there is nothing. */
export type Lookup<A> = E.Either<string, A> | undefined;

export const listed = (answer: Answer): readonly JsonObject[] =>
  E.isRight(answer) && Array.isArray(answer.right["items"])
    ? (answer.right["items"] as readonly unknown[]).filter(isObject)
    : [];

/** The path at which the API server tells of all groups that it serves, but for the core one. */
const GROUPS = "/apis";

/** The core group is not among them. */
const lists = (groups: KubeObject, group: string, version: string): boolean =>
  (group === "" && version === "v1") ||
  ((groups["groups"] ?? []) as readonly JsonObject[]).some(
    ({ name, versions }) =>
      name === group && ((versions ?? []) as readonly JsonObject[]).some((one) => one["version"] === version),
  );

const discover = (fact: string, of: string): Effect => ({
  purpose: "discover",
  fact: `discovery${fact}`,
  request: { verb: "raw", path: of },
});

/** The kinds of a group version. That it is not served, something before the API server may have said: the list of all groups tells. */
const served = ({ ask }: Inquiry, group: string, version: string, path: string): Answer | undefined => {
  const first = ask({ ...discover(path, path), mayBeUnserved: true });
  if (first === undefined || E.isRight(first) || !isUnserved(first.left)) return first;
  const groups = ask(discover(GROUPS, GROUPS));
  if (groups === undefined) return undefined;
  return E.isRight(groups) && lists(groups.right, group, version) ? ask(discover(`${path}/again`, path)) : first;
};

/** The resource as discovery has it. */
const discovered = (
  inquiry: Inquiry,
  group: string,
  version: string,
  shown: string,
  isWanted: (one: JsonObject) => boolean,
): Lookup<Resource> => {
  // Group and version become a path that the controller asks for itself.
  if (!(group === "" || isDnsSubdomain(group)) || !isDnsLabel(version))
    return E.left(`"${group}" and "${version}" are not the group and the version of an API`);
  const path = group === "" ? `/api/${version}` : `${GROUPS}/${group}/${version}`;
  const answer = served(inquiry, group, version, path);
  if (answer === undefined) return undefined;
  if (E.isLeft(answer) && !isUnserved(answer.left))
    return E.left(`it is not known whether the API server serves ${shown} in ${path}: ${messageOf(answer.left)}`);
  const all = E.isRight(answer) ? ((answer.right["resources"] ?? []) as readonly JsonObject[]) : [];
  const found = all.find((one) => !(one["name"] as string).includes("/") && isWanted(one));
  if (found === undefined) return E.left(`the API server does not serve ${shown} in ${path}`);
  const { name, kind, namespaced } = found;
  return E.right({
    group,
    version,
    plural: name as string,
    kind: kind as string,
    namespaced: namespaced === true,
    statusSubresource: false,
  });
};

/** Whether objects can be read, and not only created, such as reviews. */
const isReadable = (verbs: Json | undefined): boolean => !Array.isArray(verbs) || verbs.includes("get");

/** Finds the resource of a reference with `apiVersion` (the version), `resource`, and `group`, but for the core one. */
export const resourceNamed = (
  inquiry: Inquiry,
  { group = "", apiVersion: version = "", resource: plural = "" }: ObjectReference,
): Lookup<Resource> => {
  // An apiVersion with a group is also taken, as manifests have it.
  const [, own = group, ofOwn = version] = (group === "" && /^([^/]+)\/([^/]+)$/u.exec(version)) || [];
  return discovered(inquiry, own, ofOwn, plural, ({ name, verbs }) => name === plural && isReadable(verbs));
};

/** Finds the resource of a manifest. @param apiVersion such as `apps/v1` */
export const resourceOfKind = (inquiry: Inquiry, apiVersion: string, kind: string): Lookup<Resource> => {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  return discovered(inquiry, group ?? "", version ?? "", kind, (one) => one["kind"] === kind);
};

/**
 * Finds out where an object is. Left: why that is not known.
 *
 * @param own the namespace of an object for which none is named
 */
export const locate = (inquiry: Inquiry, ref: ObjectReference, own: string): Lookup<ObjectRef> => {
  const { name = "", namespace } = ref;
  const known = KINDS[(ref.kind ?? "").toLowerCase()];
  if (known === undefined && (given(ref.apiVersion) === undefined || given(ref.resource) === undefined))
    return E.left(
      `kind "${ref.kind ?? ""}" needs apiVersion and resource: only statefulset, deployment, deploymentconfig, pvc and namespace are known without`,
    );
  const resource = known === undefined ? resourceNamed(inquiry, ref) : E.right(known);
  if (resource === undefined || E.isLeft(resource)) return resource;
  const isIn = resource.right.namespaced ? (given(namespace) ?? own) : undefined;
  return E.right({ resource: resource.right, name, ...(isIn === undefined ? {} : { namespace: isIn }) });
};

export const selectorOf = (workload: KubeObject): string => {
  const { matchLabels, matchExpressions } = asObject(asObject(workload["spec"])["selector"]);
  const equal = Object.entries(asObject(matchLabels)).map(([name, value]) => `${name}=${value as string}`);
  const sets = (Array.isArray(matchExpressions) ? matchExpressions : [])
    .filter(isObject)
    .map(({ key, operator, values }) => {
      const of = `(${(Array.isArray(values) ? values : []).join(",")})`;
      if (operator === "Exists") return key as string;
      if (operator === "DoesNotExist") return `!${key as string}`;
      return `${key as string} ${operator === "In" ? "in" : "notin"} ${of}`;
    });
  return [...equal, ...sets].join(",");
};

const isOwnedBy =
  (uid: string | undefined) =>
  (object: JsonObject): boolean =>
    ((asObject(object["metadata"])["ownerReferences"] ?? []) as readonly JsonObject[]).some(
      (owner) => owner["uid"] === uid,
    );

const REVISION = "deployment.kubernetes.io/revision";
const revisionOf = (object: JsonObject | KubeObject): unknown =>
  asObject(asObject(object["metadata"])["annotations"])[REVISION];

/** The claims of a Pod, and where they are mounted. */
const mounts = (pod: JsonObject): JsonObject => {
  const { volumes, containers } = asObject(pod["spec"]);
  const mounted = ((containers ?? []) as readonly JsonObject[]).flatMap(
    ({ volumeMounts }) => (volumeMounts ?? []) as readonly JsonObject[],
  );
  return Object.fromEntries(
    ((volumes ?? []) as readonly JsonObject[]).flatMap(({ name, persistentVolumeClaim }) => {
      const path = mounted.find((mount) => mount["name"] === name)?.["mountPath"];
      const claim = asObject(persistentVolumeClaim)["claimName"];
      return typeof claim === "string" && typeof path === "string" ? [[claim, path] as const] : [];
    }),
  );
};

const nameOf = (object: JsonObject): string => asObject(object["metadata"])["name"] as string;

/** Pods, containers and claims of a workload, as templates see them. Undefined: still to be asked; an object of another kind has none. */
export const workloadOf = (
  inquiry: Inquiry,
  fact: string,
  ref: ObjectRef,
  object: KubeObject,
  as: string,
): JsonObject | undefined => {
  const { resource, namespace = "" } = ref;
  const list = (of: Resource): readonly JsonObject[] | undefined => {
    const answer = inquiry.ask({
      purpose: `list-${of.plural}`,
      fact: `${fact}/${of.plural}`,
      as,
      request: { verb: "list", resource: of, namespace, labelSelector: selectorOf(object) },
    });
    return answer && listed(answer);
  };
  const sets = resource === deployments ? list(replicaSets) : [];
  const all = list(pods);
  if (sets === undefined || all === undefined) return undefined;
  const { uid } = object.metadata;
  const current = sets.find((set) => isOwnedBy(uid)(set) && revisionOf(set) === revisionOf(object));
  const owner = resource === deployments ? (asObject(current?.["metadata"])["uid"] as string) : uid;
  const running = all
    .filter((pod) => isOwnedBy(owner)(pod) && asObject(pod["status"])["phase"] === "Running")
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  return {
    Pods: running.map(nameOf),
    Containers: running.map((pod) =>
      ((asObject(pod["status"])["containerStatuses"] ?? []) as readonly JsonObject[]).map(({ name }) => name as string),
    ),
    PersistentVolumeClaims: Object.fromEntries(running.map((pod) => [nameOf(pod), mounts(pod)])),
  };
};

export const isWorkload = ({ plural }: Pick<Resource, "plural">): boolean =>
  ["statefulsets", "deployments", "deploymentconfigs"].includes(plural);

export const readObject = (fact: string, ref: ObjectRef, as: string): ReturnType<typeof get> =>
  get("read-object", fact, ref, as);
