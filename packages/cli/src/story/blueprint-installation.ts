// Checks that the controller of Blueprints and its policies are installed and work, where there are ActionSets or its Lease.
import { actionSets, BLUEPRINT_POLICIES, BLUEPRINTS_LEASE, FENCE } from "@janus/blueprints/authoring";
import { listAll } from "@janus/kube";
import { isUnserved, leases, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { bindings, policies } from "../cluster/resources.ts";
import { checkLeader, checkPolicy, type Finding } from "./checkup.ts";
import { checked, look } from "./installation.ts";
import { unexecuted } from "./unexecuted.ts";

const PURPOSES: readonly (readonly [name: string, purpose: string])[] = [
  [FENCE.policy, "rejects writes of a stale leader to what ActionSets act on"],
  [BLUEPRINT_POLICIES.actionSets, "rejects an ActionSet whose author may not impersonate its ServiceAccount"],
  [BLUEPRINT_POLICIES.journals, "rejects journals of ActionSets that others write"],
];

/** Of the controller; none where it is not installed and nothing waits for it. */
export const checkBlueprints = async (cluster: Cluster, systemNamespace: string): Promise<readonly Finding[]> => {
  const { api, namespace } = cluster;
  const [lease, all] = await Promise.all([
    look(cluster, leases, BLUEPRINTS_LEASE, systemNamespace),
    listAll(api, { resource: actionSets, namespace }),
  ]);
  const isServed = E.isRight(all) || !isUnserved(all.left);
  const idle = E.isRight(all) ? unexecuted(all.right.items, namespace, Date.now()) : [];
  if ("object" in lease && lease.object === undefined) return idle;
  const found = await Promise.all(
    PURPOSES.map(([name]) => Promise.all([look(cluster, policies, name), look(cluster, bindings, name)])),
  );
  const served: Finding = isServed
    ? { isFine: true, what: "Blueprints, ActionSets and Profiles are served" }
    : {
        isFine: false,
        what: "there are no CustomResourceDefinitions of Blueprints, ActionSets and Profiles",
        cure: "install them: docs/install.md",
      };
  return [
    ...(E.isRight(all) || !isServed
      ? [served]
      : [{ isFine: false, isUnseen: true as const, what: `ActionSets cannot be looked at: ${messageOf(all.left)}` }]),
    checked(lease, "the Lease of the controller of Blueprints", (object) => {
      const { what, ...rest } = checkLeader(object, Date.now());
      return { what: `of Blueprints: ${what}`, ...rest };
    }),
    ...PURPOSES.flatMap(([name, purpose], at) => {
      const [policy, binding] = found[at] ?? [];
      return policy === undefined || binding === undefined
        ? []
        : [
            checked(binding, `the binding of ${name}`, (bound) =>
              checked(policy, name, (object) => checkPolicy(name, purpose, object !== undefined, bound !== undefined)),
            ),
          ];
    }),
    ...idle,
  ];
};
