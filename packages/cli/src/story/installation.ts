// Checks that the CRD, the admission policies and the controller are installed and work.
import { CRD_NAME, LEADER_LEASE, POLICIES, transactionCrd } from "@janus/api";
import { leases, messageOf } from "@janus/types";
import type { KubeObject, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { bindings, crds, deployments, mutatingPolicies, policies } from "../cluster/resources.ts";
import { checkCrd, checkDeployment, checkLeader, checkPolicy, checkStamps, type Finding } from "./checkup.ts";

const PURPOSES: readonly (readonly [name: string, purpose: string])[] = [
  [POLICIES.fence, "rejects writes of a stale leader"],
  [POLICIES.requester, "rejects a Transaction whose author may not impersonate its ServiceAccount"],
  [POLICIES.stamps, "rejects false names of users in annotations of a Transaction"],
  [POLICIES.approval, "rejects what is published without approval where a namespace requires it"],
  [POLICIES.controllerLimits, "limits what the controller itself can write"],
];

export type Looked = { readonly object: KubeObject | undefined } | { readonly unreadable: string };

/** An object, or why the user may not look at it. */
export const look = async ({ api }: Cluster, resource: Resource, name: string, namespace?: string): Promise<Looked> => {
  const there = namespace === undefined ? {} : { namespace };
  const answer = await api.send({ verb: "get", resource, name, ...there });
  if (E.isRight(answer)) return { object: answer.right };
  // There is none, too, of a kind that an older cluster does not serve.
  return answer.left.type === "refused" && (answer.left.notFound === "object" || answer.left.notFound === "path")
    ? { object: undefined }
    : { unreadable: messageOf(answer.left) };
};

const unread = (what: string, why: string): Finding => ({
  isFine: false,
  isUnseen: true,
  what: `${what} cannot be looked at: ${why}`,
  cure: "ask an administrator to run kubectl janus doctor",
});

/** Checks it, where the user may look at it. @param what it is, in words */
export const checked = (looked: Looked, what: string, check: (object: KubeObject | undefined) => Finding): Finding =>
  "unreadable" in looked ? unread(what, looked.unreadable) : check(looked.object);

export interface Installed {
  /** The namespace of the controller. */
  readonly systemNamespace: string;
  /** Its Deployment. */
  readonly deployment: string;
}

/** Whether everything is installed, and works, as far as the user may look at it. */
export const checkInstallation = async (
  cluster: Cluster,
  { systemNamespace, deployment }: Installed,
): Promise<readonly Finding[]> => {
  const [crd, controller, leader, stamps, ...found] = await Promise.all([
    look(cluster, crds, CRD_NAME),
    look(cluster, deployments, deployment, systemNamespace),
    look(cluster, leases, LEADER_LEASE, systemNamespace),
    look(cluster, mutatingPolicies, POLICIES.stamps),
    ...PURPOSES.flatMap(([name]) => [look(cluster, policies, name), look(cluster, bindings, name)]),
  ]);
  return [
    checked(crd, "the CustomResourceDefinition", (object) => checkCrd(object, transactionCrd)),
    checked(controller, "the Deployment of the controller", (object) =>
      checkDeployment(object, systemNamespace, deployment),
    ),
    checked(leader, "the Lease of the leader", (object) => checkLeader(object, Date.now())),
    ...PURPOSES.map(([name, purpose], index) => {
      const [policy = { object: undefined }, binding = { object: undefined }] = found.slice(2 * index);
      return checked(binding, `the binding of ${name}`, (bound) =>
        checked(policy, name, (object) => checkPolicy(name, purpose, object !== undefined, bound !== undefined)),
      );
    }),
    checked(stamps, `the MutatingAdmissionPolicy ${POLICIES.stamps}`, checkStamps),
  ];
};
