// Converts values of the Helm chart into the props of the constructs, for the tests that compare both.
import type { JanusProps } from "../janus.ts";
import { k8s } from "cdk8s-plus-30";
import { version } from "../defaults.ts";
import type { ChartValues } from "./values.ts";

const quantities = (all: Readonly<Record<string, string>> = {}): Record<string, k8s.Quantity> =>
  Object.fromEntries(Object.entries(all).map(([name, quantity]) => [name, k8s.Quantity.fromString(quantity)]));

const imageOf = ({ repository, tag, digest }: ChartValues["image"]): string => {
  if (repository === "") throw new Error("image.repository is required");
  return digest === "" ? `${repository}:${tag === "" ? version : tag}` : `${repository}@${digest}`;
};

/** Without empty values, which mean unset in the chart. */
const withoutEmpty = <A extends object>(values: A): { readonly [K in keyof A]?: Exclude<A[K], null> } =>
  Object.fromEntries(Object.entries(values).filter(([, one]) => one !== "" && one !== null)) as {
    readonly [K in keyof A]?: Exclude<A[K], null>;
  };

const resourcesOf = ({ requests, limits }: ChartValues["resources"]): k8s.ResourceRequirements => ({
  ...(requests === undefined ? {} : { requests: quantities(requests) }),
  ...(limits === undefined ? {} : { limits: quantities(limits) }),
});

/** The props that correspond to these values in this namespace: the tests compare the objects of the chart and of the constructs. */
export const propsOf = (values: ChartValues, namespace: string) => {
  const { image, imagePullSecrets, resources, commonLabels, podLabels, controller, networkPolicy, monitoring } = values;
  const { replicaCount, logLevel, topologySpreadConstraints, actsAs, priorityClassName, serviceAccount, ...others } =
    values;
  const { podAnnotations, nodeSelector, tolerations, affinity, extraEnv, stampsUsers } = others;
  const { defaultTtlSecondsAfterFinished: defaultTtl, leaderElection, ...process } = controller;
  const { enabled: isMonitored, ...prometheus } = monitoring;
  const { enabled: hasNetworkPolicy, ...network } = networkPolicy;
  const { enabled: hasBlueprints, ...blueprints } = others.blueprints;
  const { enabled: hasGitJournal, ...gitJournal } = others.gitJournal;
  const { minAvailable, ...budget } = others.podDisruptionBudget;
  return {
    namespace,
    image: imageOf(image),
    imagePullPolicy: image.pullPolicy,
    imagePullSecrets: imagePullSecrets.map(({ name }) => name),
    podLabels: { ...commonLabels, ...podLabels },
    podAnnotations,
    nodeSelector,
    tolerations: tolerations as readonly k8s.Toleration[],
    ...(Object.keys(affinity).length === 0 ? {} : { affinity }),
    extraEnv: extraEnv as readonly k8s.EnvVar[],
    stampsUsers,
    serviceAccount: withoutEmpty(serviceAccount),
    podDisruptionBudget: { ...budget, ...(minAvailable === null ? {} : { minAvailable }) },
    aggregateClusterRoles: others.rbac.aggregateClusterRoles,
    crd: others.crds.enabled,
    ...network,
    networkPolicy: hasNetworkPolicy,
    ...prometheus,
    monitoring: isMonitored,
    ...process,
    leaderElection: withoutEmpty(leaderElection),
    ...(defaultTtl === null ? {} : { defaultTtlSecondsAfterFinished: defaultTtl }),
    resources: resourcesOf(resources),
    ...(hasBlueprints
      ? { blueprints: { ...withoutEmpty(blueprints), resources: resourcesOf(blueprints.resources) } }
      : {}),
    ...(hasGitJournal
      ? {
          gitJournal: {
            ...withoutEmpty(gitJournal),
            webhook: withoutEmpty(gitJournal.webhook),
            podResources: resourcesOf(gitJournal.podResources),
          },
        }
      : {}),
    ...(topologySpreadConstraints === null
      ? {}
      : { topologySpreadConstraints: topologySpreadConstraints as unknown as readonly k8s.TopologySpreadConstraint[] }),
    ...(priorityClassName === "" ? {} : { priorityClassName }),
    ...(replicaCount === null ? {} : { replicas: replicaCount }),
    logLevel,
    ...(actsAs === null ? {} : { actsAs }),
  } satisfies JanusProps;
};
