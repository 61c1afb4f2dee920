// Composes the Role that the ServiceAccount of an ActionSet needs for a Blueprint, from what its functions say they need.
import { asObject, type JsonObject, type Resource } from "@janus/types";
import { type BlueprintAction, type BlueprintPhase, isAtomic, phasesOf } from "../api/blueprint.ts";
import { profiles } from "../api/names.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import { accessOf, namedAccess, transactionAccessOf } from "./access.ts";
import { functionOf } from "./functions/index.ts";
import { deployments, replicaSets } from "./requests.ts";
import { isWorkload, KINDS } from "./object-lookup.ts";
import type { Access, NamedObjects } from "./phase-context.ts";
import { argsAccess } from "./pods/pod-access.ts";
import { stringsOf } from "./render-args.ts";

const text = (phase: BlueprintPhase): string =>
  stringsOf({ ...asObject(phase.args), objects: asObject(phase.objects) }, "")
    .map(([, one]) => one)
    .join("\n");

const kindOf = (kind: string | undefined): Resource | undefined => KINDS[(kind ?? "").toLowerCase()];

const readsProfile = ({ func = "" }: BlueprintPhase): boolean => functionOf(func)?.readsProfile === true;

/** Reads of the object, and of all that the action names. */
const readAccess = (action: BlueprintAction, own: string): readonly Access[] => {
  const known = kindOf(action.kind);
  const all = phasesOf(action).map(text).join("\n");
  const reads = (group: string, resource: string, verb = "get"): Access => ({ verb, group, resource, namespace: own });
  const kinds = phasesOf(action).flatMap(({ objects = {} }) =>
    Object.values(objects).map(({ kind = "" }) => (kind.toLowerCase() === "configmap" ? "configmaps" : "secrets")),
  );
  return [
    ...(known === undefined ? [] : [{ ...reads(known.group, known.plural), namespace: known.namespaced ? own : "" }]),
    ...(known !== undefined && isWorkload(known) ? [reads("", "pods", "list")] : []),
    ...(known === deployments ? [reads(replicaSets.group, replicaSets.plural, "list")] : []),
    ...((action.configMapNames ?? []).length > 0 ? [reads("", "configmaps")] : []),
    ...((action.secretNames ?? []).length > 0 ? [reads("", "secrets")] : []),
    ...kinds.map((plural) => reads("", plural)),
    ...(/\.Profile\b/u.test(all) || phasesOf(action).some(readsProfile)
      ? [reads(profiles.group, profiles.plural), reads("", "secrets")]
      : []),
  ];
};

/** The words that a command must not show go to a Secret of its Pod. */
const concealedAccess = (phase: BlueprintPhase, access: readonly Access[]): readonly Access[] =>
  /\.(?:Secrets|Profile)\b/u.test(text(phase))
    ? access
        .filter(
          ({ verb, resource, subresource }) => verb === "create" && resource === "pods" && subresource === undefined,
        )
        .flatMap(({ namespace }) => argsAccess(namespace))
    : [];

/** The needs of a phase, as far as they are known, and in words what is not known before it is rendered. */
interface Needed {
  readonly access: readonly Access[];
  readonly unknown: readonly string[];
}

const isTemplate = (written: string): boolean => written.includes("{{");

const NOT_RENDERED = "which is known only when it is rendered";

/** The accesses to objects that an argument names. */
const neededOn = (func: string, named: NamedObjects): Needed => {
  const access = namedAccess(named);
  if (access !== undefined) return { access, unknown: [] };
  const { verbs, at, objects, namespace: otherwise } = named;
  const needs = `${func} needs ${verbs.join(", ")} on`;
  if (typeof objects === "string") return { access: [], unknown: [`${needs} ${objects}`] };
  const { group = "", resource = "", namespace = "" } = objects;
  const where = namespace === "" ? otherwise : namespace;
  const place = where === undefined ? "" : where === "" ? " in no namespace" : ` in namespace ${where}`;
  const shown = `${needs} ${resource}${group === "" ? "" : `.${group}`}${place} (${at})`;
  return {
    access: [],
    unknown: [
      [resource, group, where ?? ""].some(isTemplate)
        ? `${shown}, ${NOT_RENDERED}`
        : `${shown}: in namespace default, unless it is in none, which the API server knows`,
    ],
  };
};

/** @param object that the Blueprint says its action is for; is: whether the phase is one of an atomic action */
const neededBy = (phase: BlueprintPhase, own: string, object: ObjectReference, is: boolean): Needed => {
  const { func = "" } = phase;
  const args = asObject(phase.args);
  const found = accessOf(phase, own, is, object);
  const known = found ?? accessOf({ ...phase, args: { ...args, namespace: own } }, own, is, object) ?? [];
  if (known.length > 0) {
    const place = `${func} works in namespace ${args["namespace"] as string} (args.namespace), ${NOT_RENDERED}`;
    return {
      access: [...known, ...concealedAccess(phase, known)],
      unknown: found === undefined ? [`${place}: its rules are in the Role of ${own}`] : [],
    };
  }
  const named = (functionOf(func)?.named?.(args, is) ?? []).map((one) => neededOn(func, one));
  return {
    access: named.flatMap(({ access }) => access),
    unknown: [...new Set(named.flatMap(({ unknown }) => unknown))].map((one) => `${one}: add it`),
  };
};

const resourceOf = ({ resource, subresource }: Access): string =>
  subresource === undefined ? resource : `${resource}/${subresource}`;

const rulesOf = (all: readonly Access[]): readonly JsonObject[] => {
  const byResource = new Map<string, readonly Access[]>();
  for (const one of all) {
    const key = `${one.group}/${resourceOf(one)}`;
    byResource.set(key, [...(byResource.get(key) ?? []), one]);
  }
  return [...byResource.entries()]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, [first, ...rest]]) =>
      first === undefined
        ? []
        : [
            {
              apiGroups: [first.group],
              resources: [resourceOf(first)],
              verbs: [...new Set([first, ...rest].map(({ verb }) => verb))].toSorted(),
            },
          ],
    );
};

export interface Roles {
  /** Roles, and a ClusterRole for what is in no namespace. */
  readonly manifests: readonly JsonObject[];
  /** The needs that only show when it is rendered, and why. */
  readonly unknown: readonly string[];
}

/** @param own the namespace of the ActionSet: also of what names none, and of what is known only once it is rendered */
export const rolesOf = (name: string, actions: Readonly<Record<string, BlueprintAction>>, own: string): Roles => {
  const phases = Object.entries(actions).flatMap(([action, one]) =>
    phasesOf(one).map((phase) => {
      const object = one.kind === undefined ? {} : { kind: one.kind, namespace: own };
      const is = isAtomic(one, phase);
      const { access, unknown } = neededBy(phase, own, object, is);
      return {
        access: [...access, ...transactionAccessOf(phase, own, is)],
        unknown: unknown.map((what) => `action ${action}, phase ${phase.name ?? ""}: ${what}`),
      };
    }),
  );
  const all = [
    ...Object.values(actions).flatMap((action) => readAccess(action, own)),
    ...phases.flatMap(({ access }) => access),
  ];
  const namespaces = [...new Set(all.map(({ namespace }) => namespace))].toSorted();
  return {
    manifests: namespaces.map((namespace) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: namespace === "" ? "ClusterRole" : "Role",
      metadata: { name: `blueprint-${name}`, ...(namespace === "" ? {} : { namespace }) },
      rules: rulesOf(all.filter((one) => one.namespace === namespace)),
    })),
    unknown: [
      ...Object.entries(actions).flatMap(([action, { kind }]) =>
        kindOf(kind) === undefined
          ? [`action ${action}: it needs get on its object, of a kind that it does not name: add it`]
          : [],
      ),
      ...phases.flatMap(({ unknown }) => unknown),
    ],
  };
};
