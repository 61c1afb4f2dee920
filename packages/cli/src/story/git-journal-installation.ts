// Checks that the controller of the Git journal, its webhook and its policies work, and that its objects are Ready.
import {
  clusterWatchRules,
  GIT_JOURNAL_LEASE,
  GIT_JOURNAL_NAME,
  GIT_JOURNAL_POLICIES,
  gitDestinations,
  gitRepoConfigs,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_NAME,
  watchRules,
} from "@janus/git-journal";
import { listAll, type KubeObject } from "@janus/kube";
import { asObject, isUnserved, leases, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { bindings, deployments, endpointSlices, policies, webhooks } from "../cluster/resources.ts";
import { checkDeployment, checkLeader, checkPolicy, type Finding } from "./checkup.ts";
import { checked, look, type Looked } from "./installation.ts";
import { unready } from "./unready.ts";

const PURPOSES: readonly (readonly [name: string, purpose: string])[] = [
  [GIT_JOURNAL_POLICIES.rules, "rejects a rule whose author may not list what it selects"],
  [GIT_JOURNAL_POLICIES.secrets, "rejects recipients and credentials of an author who may not get Secrets"],
];

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Whether the webhook, without which commits have no authors, is called; and served, by the EndpointSlices of its Service. */
export const checkWebhook = (
  configuration: KubeObject | undefined,
  slices: readonly KubeObject[] | undefined,
  namespace: string,
): Finding => {
  const what = `the webhook ${WEBHOOK_CONFIGURATION}`;
  if (configuration === undefined)
    return {
      isFine: false,
      what: `there is no ValidatingWebhookConfiguration ${WEBHOOK_CONFIGURATION}: commits have no authors`,
      cure: "install it again: docs/install.md",
    };
  const { clientConfig, rules } =
    list(configuration["webhooks"])
      .map(asObject)
      .find(({ name }) => name === WEBHOOK_NAME) ?? {};
  const { caBundle, service } = asObject(clientConfig);
  const missing = [
    ...(typeof caBundle === "string" && caBundle !== "" ? [] : ["caBundle"]),
    ...(list(rules).length > 0 ? [] : ["rules"]),
  ];
  if (missing.length > 0)
    return {
      isFine: false,
      what: `${what} is not called: it has no ${missing.join(", and no ")}`,
      cure: "the leader writes them, rules once something is selected: look at its log",
    };
  const endpoints = slices?.flatMap((slice) => list(slice["endpoints"]).map(asObject));
  const isServed = endpoints?.some(({ conditions }) => asObject(conditions)["ready"] !== false) ?? true;
  return isServed || service === undefined
    ? { isFine: true, what: `${what} is called, and tells who has made a change` }
    : {
        isFine: false,
        what: `${what} is called, and no Pod answers: commits have no authors`,
        cure: `the Pod of the leader serves it: kubectl describe service ${GIT_JOURNAL_NAME} -n ${namespace}`,
      };
};

const isThere = (looked: Looked): boolean => "object" in looked && looked.object !== undefined;

const ofJournal = ({ what, ...rest }: Finding): Finding => ({ what: `of the Git journal: ${what}`, ...rest });

/** Whether it is in the namespace, or a ClusterWatchRule that writes to a destination or repository there. */
const isOf = (namespace: string, object: KubeObject): boolean => {
  const { destinationRef, gitRepoConfigRef } = asObject(object["spec"]);
  return (
    object.metadata.namespace === namespace ||
    [destinationRef, gitRepoConfigRef].some((ref) => asObject(ref)["namespace"] === namespace)
  );
};

/** Objects of the namespace, with the ClusterWatchRules that write there; and what of them the user may not look at. Undefined: their kinds are not served. */
const readObjects = async ({
  api,
  namespace,
}: Cluster): Promise<{ readonly all: readonly KubeObject[]; readonly unseen: readonly Finding[] } | undefined> => {
  const lists = await Promise.all(
    [gitRepoConfigs, gitDestinations, watchRules, clusterWatchRules].map(async (resource) => ({
      resource,
      answer: await listAll(api, { resource, ...(resource.namespaced ? { namespace } : {}) }),
    })),
  );
  if (lists.every(({ answer }) => E.isLeft(answer) && isUnserved(answer.left))) return undefined;
  return {
    all: lists.flatMap(({ answer, resource: { group, version, kind } }) =>
      E.isRight(answer)
        ? answer.right.items
            .filter((one) => isOf(namespace, one))
            // Items of a list need not say what they are.
            .map((one) => ({ ...one, apiVersion: `${group}/${version}`, kind }))
        : [],
    ),
    unseen: lists.flatMap(({ answer, resource: { kind } }) =>
      E.isRight(answer)
        ? []
        : [{ isFine: false, isUnseen: true as const, what: `${kind}s cannot be looked at: ${messageOf(answer.left)}` }],
    ),
  };
};

const checkPolicies = (cluster: Cluster): Promise<readonly Finding[]> =>
  Promise.all(
    PURPOSES.map(async ([name, purpose]) => {
      const [policy, binding] = await Promise.all([look(cluster, policies, name), look(cluster, bindings, name)]);
      const finding = checked(binding, `the binding of ${name}`, (bound) =>
        checked(policy, name, (object) => checkPolicy(name, purpose, object !== undefined, bound !== undefined)),
      );
      return finding.isFine || finding.isUnseen === true
        ? finding
        : {
            ...finding,
            cure: "install it again, with gitJournal.validateAuthors: docs/security.md#who-may-write-rules",
          };
    }),
  );

/** Checks the controller, and its objects in the namespace; nothing where it is not installed and has none. */
export const checkGitJournal = async (cluster: Cluster, systemNamespace: string): Promise<readonly Finding[]> => {
  const [deployment, lease, configuration, slices, objects] = await Promise.all([
    look(cluster, deployments, GIT_JOURNAL_NAME, systemNamespace),
    look(cluster, leases, GIT_JOURNAL_LEASE, systemNamespace),
    look(cluster, webhooks, WEBHOOK_CONFIGURATION),
    listAll(cluster.api, {
      resource: endpointSlices,
      namespace: systemNamespace,
      labelSelector: `kubernetes.io/service-name=${GIT_JOURNAL_NAME}`,
    }),
    readObjects(cluster),
  ]);
  const late = objects === undefined ? [] : unready(objects.all, Date.now());
  if (![deployment, lease, configuration].some(isThere)) return late;
  const served: readonly Finding[] =
    objects === undefined
      ? [
          {
            isFine: false,
            what: "there are no CustomResourceDefinitions of the Git journal",
            cure: "install them: docs/install.md",
          },
        ]
      : objects.unseen;
  return [
    ...served,
    checked(deployment, "the Deployment of the Git journal", (object) =>
      ofJournal(checkDeployment(object, systemNamespace, GIT_JOURNAL_NAME)),
    ),
    checked(lease, "the Lease of the leader of the Git journal", (object) =>
      ofJournal(checkLeader(object, Date.now())),
    ),
    checked(configuration, `the webhook ${WEBHOOK_CONFIGURATION}`, (object) =>
      checkWebhook(object, E.isRight(slices) ? slices.right.items : undefined, systemNamespace),
    ),
    ...(await checkPolicies(cluster)),
    ...late,
    ...(late.length === 0 && objects !== undefined && objects.all.length > 0 && objects.unseen.length === 0
      ? [
          {
            isFine: true,
            what: `all ${objects.all.length} objects of the Git journal in ${cluster.namespace} are Ready`,
          },
        ]
      : []),
  ];
};
