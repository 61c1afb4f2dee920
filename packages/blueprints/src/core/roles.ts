// Composes the Role that the ServiceAccount of an ActionSet needs for a Blueprint, from what its functions say they need.
import { asObject, type JsonObject } from "@janus/types";
import { type BlueprintAction, type BlueprintPhase, isAtomic, phasesOf } from "../api/blueprint.ts";
import { profiles } from "../api/names.ts";
import { accessOf, transactionAccessOf } from "./access.ts";
import { deployments, replicaSets } from "./requests.ts";
import { isWorkload, KINDS } from "./object-lookup.ts";
import type { Access } from "./phase-context.ts";
import { stringsOf } from "./render-args.ts";

const text = (phase: BlueprintPhase): string =>
  stringsOf({ ...asObject(phase.args), objects: asObject(phase.objects) }, "")
    .map(([, one]) => one)
    .join("\n");

/** What is read of the object and of what the action names. */
const readAccess = (action: BlueprintAction, own: string): readonly Access[] => {
  const known = KINDS[(action.kind ?? "").toLowerCase()];
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
    ...(/\.Profile\b/u.test(all) ? [reads(profiles.group, profiles.plural), reads("", "secrets")] : []),
  ];
};

/** What a command must not show goes to a Secret of its Pod. */
const argsAccess = (phase: BlueprintPhase, access: readonly Access[]): readonly Access[] =>
  /\.(?:Secrets|Profile)\b/u.test(text(phase))
    ? access
        .filter(
          ({ verb, resource, subresource }) => verb === "create" && resource === "pods" && subresource === undefined,
        )
        .map((one) => ({ ...one, resource: "secrets" }))
    : [];

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
  /** What only shows when it is rendered. */
  readonly unknown: readonly string[];
}

/** @param own the namespace of the ActionSet: also of what names none, and of what is known only once it is rendered */
export const rolesOf = (name: string, actions: Readonly<Record<string, BlueprintAction>>, own: string): Roles => {
  const phases = Object.entries(actions).flatMap(([action, one]) =>
    phasesOf(one).map((phase) => {
      const is = isAtomic(one, phase);
      return { action, phase, is, access: accessOf(phase, own, is) };
    }),
  );
  const all = [
    ...Object.values(actions).flatMap((action) => readAccess(action, own)),
    ...phases.flatMap(({ phase, is, access }) => {
      const needed = access ?? accessOf({ ...phase, args: { ...phase.args, namespace: own } }, own, is) ?? [];
      return [...needed, ...argsAccess(phase, needed), ...transactionAccessOf(phase, own, is)];
    }),
  ];
  const namespaces = [...new Set(all.map(({ namespace }) => namespace))].toSorted();
  return {
    manifests: namespaces.map((namespace) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: namespace === "" ? "ClusterRole" : "Role",
      metadata: { name: `blueprint-${name}`, ...(namespace === "" ? {} : { namespace }) },
      rules: rulesOf(all.filter((one) => one.namespace === namespace)),
    })),
    unknown: phases.flatMap(({ action, phase: { name: called = "", func = "" }, access }) => {
      const shown = `action ${action}, phase ${called}`;
      if (access === undefined) return [`${shown}: its namespace is known only when it is rendered; ${own} is assumed`];
      return access.length === 0 ? [`${shown}: what ${func} needs is known only when it is rendered: add it`] : [];
    }),
  };
};
