// The values of the Helm chart: documentation, schema and default of each.
import { DNS_LABEL, DNS_LABEL_LENGTH, DNS_SUBDOMAIN, DNS_SUBDOMAIN_LENGTH, MAX_INT32 } from "@janus/types";
import { defaultLogLevel, type LogLevel, longestLeaseDuration, longestTtl } from "../controller-flags.ts";
import { blueprintsDefaults } from "../blueprints-props.ts";
import { gitJournalDefaults, type JournaledResources } from "../git-journal-props.ts";
import { defaultNodeSelector, defaultResources } from "../controller-pod.ts";
import { defaultApiServerPorts } from "../controller-network-policy.ts";
import type { ActsAs } from "../impersonation-roles.ts";
import { leaderElectionDefaults } from "../leader-election.ts";
import { defaultRunbooks } from "../prometheus-rule.ts";
import type { Readiness } from "../readiness.ts";
import { type Schema, type TypeOf, value } from "./value.ts";

type Texts = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;

const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const texts: Schema = { type: "object", additionalProperties: text };
const objects: Schema = { type: "array", items: { type: "object" } };
const list = (items: Schema, more: Schema = {}): Schema => ({ type: "array", items, ...more });
const record = (properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: "object",
  additionalProperties: false,
  properties,
  ...more,
});
const orEmpty = (schema: Schema): Schema => ({ ...schema, pattern: `^$|${String(schema["pattern"])}` });

const label: Schema = { type: "string", maxLength: DNS_LABEL_LENGTH, pattern: `^${DNS_LABEL}$` };
const subdomain: Schema = { type: "string", maxLength: DNS_SUBDOMAIN_LENGTH, pattern: `^${DNS_SUBDOMAIN}$` };
/** With room for suffixes: the name of a Service has at most 63 characters. */
const prefix: Schema = { type: "string", maxLength: 40, pattern: "^([a-z]([-a-z0-9]*[a-z0-9])?)?$" };
const quantities: Schema = { type: "object", additionalProperties: { type: ["string", "number"] } };
const seconds: Schema = { type: "integer", minimum: 1, maximum: longestLeaseDuration };
const intOrPercent: Schema = { type: ["integer", "string", "null"], minimum: 0, pattern: "^[0-9]+%$" };

const { requests, limits } = defaultResources;
const plain = (quantities: typeof requests): Texts =>
  Object.fromEntries(Object.entries(quantities ?? {}).map(([name, quantity]) => [name, `${quantity.value}`]));

/** How many controllers there are. */
const replicas = (about: string, byDefault: number) =>
  value<number>({ about, schema: { type: "integer", minimum: 1, maximum: MAX_INT32 }, byDefault });

/** What a controller gets of its node. */
const resources = (about: string) =>
  value<{ readonly requests?: Texts; readonly limits?: Texts }>({
    about,
    schema: record({ requests: quantities, limits: quantities }),
    byDefault: { requests: plain(requests), limits: plain(limits) },
  });

const image = {
  repository: value({
    about:
      "Required. Registry and repository of the image, such as registry.example.com/janus: there is no public one, " +
      "docs/install.md says how to build it.",
    schema: { type: "string", pattern: "^[^\\s@]*$" },
    byDefault: "",
  }),
  tag: value({
    about: "Tag of the image. Empty: the appVersion of the chart, so that an upgrade of the chart upgrades the image.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_.-]{0,128}$" },
    byDefault: "",
  }),
  digest: value({
    about: "Digest of the image, such as sha256:…, in place of the tag.",
    schema: { type: "string", pattern: "^$|^[a-z0-9]+:[0-9a-f]{32,}$" },
    byDefault: "",
  }),
  pullPolicy: value<"Always" | "IfNotPresent" | "Never">({
    about: "When the kubelet pulls the image.",
    schema: { enum: ["Always", "IfNotPresent", "Never"] },
    byDefault: "IfNotPresent",
  }),
} as const;

const serviceAccount = {
  create: value({
    about: "Whether the ServiceAccount is created. false: the one of this name must exist.",
    schema: flag,
    byDefault: true,
  }),
  name: value({
    about: "Name of the ServiceAccount. Empty: that of the Deployment.",
    schema: orEmpty(subdomain),
    byDefault: "",
  }),
  annotations: value<Texts>({ about: "Annotations of the ServiceAccount.", schema: texts, byDefault: {} }),
} as const;

const podDisruptionBudget = {
  enabled: value({
    about: "Whether there is a PodDisruptionBudget. Never with controller.readiness: leader.",
    schema: flag,
    byDefault: true,
  }),
  minAvailable: value<number | string | null>({
    about:
      "How many Pods, or which share (50%), a drain leaves available; set in place of maxUnavailable. With a single " +
      "replica nothing could be drained.",
    schema: intOrPercent,
    byDefault: null,
  }),
  maxUnavailable: value<number | string>({
    about: "How many Pods, or which share (50%), a drain may evict at a time.",
    schema: { ...intOrPercent, type: ["integer", "string"] },
    byDefault: 1,
  }),
} as const;

const leaderElection = {
  enabled: value({
    about: "Whether the controllers elect a leader. false: one replica only, and writes are not fenced.",
    schema: flag,
    byDefault: true,
  }),
  leaseName: value<string>({
    about: "Name of the leader's Lease.",
    schema: subdomain,
    byDefault: leaderElectionDefaults.leaseName,
  }),
  leaseNamespace: value({
    about: "Namespace of the leader's Lease, which must exist. Empty: that of the release.",
    schema: orEmpty(label),
    byDefault: "",
  }),
  leaseDurationSeconds: value<number>({
    about: "How long non-leaders wait after the last observed renewal before acquiring leadership.",
    schema: seconds,
    byDefault: leaderElectionDefaults.leaseDurationSeconds,
  }),
  renewDeadlineSeconds: value<number>({
    about:
      "How long the leader tries to renew before it gives up leadership. Together with the write timeout (5 s) no " +
      "longer than leaseDurationSeconds.",
    schema: seconds,
    byDefault: leaderElectionDefaults.renewDeadlineSeconds,
  }),
  retryPeriodSeconds: value<number>({
    about: "Seconds between two attempts to acquire or renew leadership. Shorter than renewDeadlineSeconds.",
    schema: seconds,
    byDefault: leaderElectionDefaults.retryPeriodSeconds,
  }),
} as const;

const controller = {
  readiness: value<Readiness>({
    about:
      "Which Pods are ready. any: all that work. leader: the leader alone; with more than one replica `helm --wait` " +
      "then never returns.",
    schema: { enum: ["any", "leader"] },
    byDefault: "any",
  }),
  metricsAuth: value({
    about: "Require authentication and authorization for /metrics.",
    schema: flag,
    byDefault: false,
  }),
  defaultTtlSecondsAfterFinished: value<number | null>({
    about:
      "Seconds after which finished Transactions are deleted that have no ttlSecondsAfterFinished. null: they are kept.",
    schema: { type: ["integer", "null"], minimum: 0, maximum: longestTtl },
    byDefault: null,
  }),
  sensitiveKinds: value<readonly string[]>({
    about:
      "Kinds whose values the render of a Draft does not show, besides Secrets: Kind.group, or Kind in the core group.",
    schema: list({ type: "string", pattern: "^[A-Za-z][-A-Za-z0-9]*([.][-.a-z0-9]+)?$" }),
    byDefault: [],
  }),
  flags: value<readonly string[]>({
    about:
      "More flags of the controller, such as --max-concurrent-reconciles=32; `janus-controller --help` has all. Refused are those " +
      "that other values set (leader election, readiness, metricsAuth, sensitiveKinds), --namespace and --http-port.",
    schema: list({ type: "string", pattern: "^--" }),
    byDefault: [],
  }),
  leaderElection: { about: "Leader election.", values: leaderElection },
} as const;

const networkPolicy = {
  enabled: value({ about: "Whether there is a NetworkPolicy.", schema: flag, byDefault: true }),
  clients: value<readonly Json[]>({
    about: "Who may reach the controller's HTTP port, as peers of a NetworkPolicy. Empty: every Pod in the cluster.",
    schema: objects,
    byDefault: [],
  }),
  apiServerCidrs: value<readonly string[]>({
    about:
      "CIDRs of the API server's own addresses (not of the Service kubernetes), to which egress is allowed. Empty: anywhere.",
    schema: list(text),
    byDefault: [],
  }),
  apiServerPorts: value<readonly number[]>({
    about: "Ports of the API server behind the Service kubernetes.",
    schema: list({ type: "integer", minimum: 1, maximum: 65_535 }, { minItems: 1 }),
    byDefault: defaultApiServerPorts,
  }),
} as const;

const monitoring = {
  enabled: value({
    about:
      "Whether there are ServiceMonitor, PrometheusRule and Grafana dashboard. Requires the CRDs of the Prometheus Operator.",
    schema: flag,
    byDefault: false,
  }),
  prometheusLabels: value<Texts>({
    about:
      "More labels of ServiceMonitor and PrometheusRule: those by which your Prometheus selects them, such as release: prometheus.",
    schema: texts,
    byDefault: {},
  }),
  runbooks: value<string>({
    about:
      "Where the runbooks are, one page <alert>.md for each alert. The default is their path in the repository of Janus; " +
      "set the URL at which you publish them.",
    schema: { type: "string", pattern: '^[^\\s"\\\\]+$' },
    byDefault: defaultRunbooks,
  }),
} as const;

const blueprints = {
  enabled: value({
    about: "Whether there is the Blueprint controller, which executes Kanister's ActionSets.",
    schema: flag,
    byDefault: false,
  }),
  crds: value({
    about:
      "Whether the release then has the CustomResourceDefinitions of Kanister's kinds. false: they must exist, such as Kanister's own.",
    schema: flag,
    byDefault: true,
  }),
  defaultServiceAccount: value<string>({
    about: "ServiceAccount of ActionSets that name none, in their own namespace.",
    schema: subdomain,
    byDefault: blueprintsDefaults.defaultServiceAccount,
  }),
  toolsImage: value<string>({
    about: "Image of the Pods that move data: with restic and kando. Empty: Kanister's own.",
    schema: { type: "string" },
    byDefault: "",
  }),
  maxRunningActions: value<number>({
    about:
      "The most actions of a namespace that are executed at the same time. Its ActionSets beyond that wait, the oldest first.",
    schema: { type: "integer", minimum: 1, maximum: 100_000 },
    byDefault: blueprintsDefaults.maxRunningActions,
  }),
  defaultTtlSecondsAfterFinished: value<number | null>({
    about:
      "Seconds after which finished ActionSets without artifacts are deleted that have no ttlSecondsAfterFinished. null: they are kept.",
    schema: { type: ["integer", "null"], minimum: 0, maximum: MAX_INT32 },
    byDefault: null,
  }),
  requireImpersonate: value<"Named" | "Always">({
    about:
      "Whether who creates an ActionSet needs the permission to impersonate the ServiceAccount that it names (Named), or also the default one (Always).",
    schema: { enum: ["Named", "Always"] },
    byDefault: blueprintsDefaults.requireImpersonate,
  }),
  validation: value<"Deny" | "Warn" | "Off">({
    about:
      "What happens to a Blueprint with a function that does not exist, or with arguments that do not fit: it is refused (Deny), its " +
      "author is told (Warn), or it is admitted, and refused when it is used (Off).",
    schema: { enum: ["Deny", "Warn", "Off"] },
    byDefault: blueprintsDefaults.validation,
  }),
  podReadyTimeout: value<string>({
    about: "How long a Pod of a function may take until it runs, as a duration of Go.",
    schema: { type: "string", pattern: "^([0-9]+([.][0-9]+)?(ms|s|m|h))+$" },
    byDefault: blueprintsDefaults.podReadyTimeout,
  }),
  watchNamespaces: value<readonly string[] | null>({
    about:
      "The namespaces whose ActionSets are executed; they must exist. The controller has no permissions in others. null: all.",
    schema: { ...list(label, { minItems: 1, uniqueItems: true }), type: ["array", "null"] },
    byDefault: null,
  }),
  replicas: replicas("Number of Blueprint controllers, of which one leads; at least 1.", blueprintsDefaults.replicas),
  resources: resources("Resource requests and limits of the Blueprint controller."),
} as const;

const gitJournalWebhook = {
  rules: value<"Selected" | "All">({
    about:
      "Which writes of the cluster the webhook is told of: those of resources that a rule selects (Selected), or all (All). Each costs " +
      "a request.",
    schema: { enum: ["Selected", "All"] },
    byDefault: gitJournalDefaults.webhook.rules,
  }),
  excludedNamespaces: value<readonly string[]>({
    about: "Namespaces whose writes it is not told of: their commits have no author.",
    schema: list(label, { uniqueItems: true }),
    byDefault: gitJournalDefaults.webhook.excludedNamespaces,
  }),
  certificateSecret: value<string>({
    about:
      "Secret of type kubernetes.io/tls with its certificate, as cert-manager makes it, which then also says in the configuration whom " +
      "to trust. Empty: the controller makes and renews its own.",
    schema: orEmpty(subdomain),
    byDefault: "",
  }),
} as const;

const gitJournal = {
  enabled: value({
    about: "Whether there is the controller of the Git journal, which writes the live cluster to Git.",
    schema: flag,
    byDefault: false,
  }),
  crds: value({
    about:
      "Whether the release then has the CustomResourceDefinitions of its kinds. false: they must exist. Those of GitOps Reverser lack " +
      "fields.",
    schema: flag,
    byDefault: true,
  }),
  image: value<string>({
    about:
      "Image of the controller, with git and ssh, with tag or digest: the stage git-journal of the Dockerfile. Empty: that of the " +
      "others, with -git behind its tag.",
    schema: { type: "string", pattern: "^\\S*$" },
    byDefault: "",
  }),
  resources: value<readonly JournaledResources[]>({
    about:
      "Resources that it may read besides those that * selects, such as [{apiGroups: [cert-manager.io], resources: [certificates]}].",
    schema: list(
      record(
        { apiGroups: list(text, { minItems: 1 }), resources: list(text, { minItems: 1 }) },
        { required: ["apiGroups", "resources"] },
      ),
    ),
    byDefault: gitJournalDefaults.resources,
  }),
  secrets: value<boolean>({
    about:
      "Whether it may list Secrets, and * selects them. Their data are never written in plain. Credentials of repositories are read in " +
      "any case.",
    schema: flag,
    byDefault: gitJournalDefaults.secrets,
  }),
  validateAuthors: value<boolean>({
    about:
      "Whether who writes a rule must be allowed to list what it selects, and who names recipients or credentials to get Secrets: " +
      "otherwise a rule is a way to read Secrets.",
    schema: flag,
    byDefault: gitJournalDefaults.validateAuthors,
  }),
  webhook: { about: "The webhook that says who has changed an object.", values: gitJournalWebhook },
  gitPorts: value<readonly number[]>({
    about: "Ports of the git servers, for the NetworkPolicy.",
    schema: list({ type: "integer", minimum: 1, maximum: 65_535 }, { minItems: 1 }),
    byDefault: gitJournalDefaults.gitPorts,
  }),
  flags: value<readonly string[]>({
    about:
      "More flags of the controller, such as --git-batch-max-wait-sec=60; `janus-controller --git-journal --help` has all. Refused are " +
      "those that other values or objects set.",
    schema: list({ type: "string", pattern: "^--" }),
    byDefault: gitJournalDefaults.flags,
  }),
  replicas: replicas(
    "Number of controllers, of which one leads and serves the webhook; at least 1.",
    gitJournalDefaults.replicas,
  ),
  shards: value<boolean>({
    about: "Whether the controllers share the branches, and not the leader alone writes.",
    schema: flag,
    byDefault: gitJournalDefaults.shards,
  }),
  podResources: resources("Resource requests and limits of the controller."),
} as const;

/**
 * All values, with documentation and defaults: `values.yaml`, `values.schema.json` and the README.md of the chart are generated
 * from this.
 */
export const values = {
  image: { about: "Image of the controller.", values: image },
  imagePullSecrets: value<readonly { readonly name: string }[]>({
    about: "Secrets, in the namespace of the release, with which the image is pulled, such as [{name: registry}].",
    schema: list(record({ name: subdomain }, { required: ["name"] })),
    byDefault: [],
  }),
  nameOverride: value({
    about:
      "In place of janus in the label app.kubernetes.io/name, and in janus-controller, the name of the Deployment and of " +
      "the objects that belong to it. What exists once in a cluster, such as the admission policy janus-fence, keeps its name.",
    schema: prefix,
    byDefault: "",
  }),
  fullnameOverride: value({
    about: "In place of janus-controller, the name of the Deployment and of the objects that belong to it.",
    schema: prefix,
    byDefault: "",
  }),
  commonLabels: value<Texts>({
    about: "Labels of all objects and of the Pods. Those that the chart sets itself take precedence.",
    schema: texts,
    byDefault: {},
  }),
  replicaCount: value<number | null>({
    about:
      "Number of controllers, of which one leads; at least 1. null: 2, or 1 without leader election. To stop the " +
      "controller for a while, scale its Deployment to 0.",
    schema: { type: ["integer", "null"], minimum: 1, maximum: MAX_INT32 },
    byDefault: null,
  }),
  logLevel: value<LogLevel>({
    about: "What the controller logs: with debug each request, with warn and error only what needs attention.",
    schema: { enum: ["debug", "info", "warn", "error"] },
    byDefault: defaultLogLevel,
  }),
  podLabels: value<Texts>({
    about: "Labels of the Pods. Those of their selector take precedence.",
    schema: texts,
    byDefault: {},
  }),
  podAnnotations: value<Texts>({
    about:
      "Annotations of the Pods. They take precedence over prometheus.io/scrape, prometheus.io/port and prometheus.io/path.",
    schema: texts,
    byDefault: {},
  }),
  resources: resources("Resource requests and limits. No CPU limit: a throttled controller renews its locks late."),
  priorityClassName: value({
    about: "PriorityClass of the Pods. Empty: the cluster's default.",
    schema: text,
    byDefault: "",
  }),
  nodeSelector: value<Texts>({ about: "Node selector of the Pods.", schema: texts, byDefault: defaultNodeSelector }),
  tolerations: value<readonly Json[]>({ about: "Tolerations of the Pods.", schema: objects, byDefault: [] }),
  affinity: value<Json>({ about: "Affinity of the Pods.", schema: { type: "object" }, byDefault: {} }),
  topologySpreadConstraints: value<readonly Json[] | null>({
    about: "Topology spread constraints of the Pods. null: over nodes and zones, where there are several. []: none.",
    schema: { ...objects, type: ["array", "null"] },
    byDefault: null,
  }),
  extraEnv: value<readonly (Json & { readonly name: string })[]>({
    about: "More environment variables of the controller, such as [{name: HTTPS_PROXY, value: …}].",
    schema: list({ type: "object", required: ["name"], properties: { name: text } }),
    byDefault: [],
  }),
  serviceAccount: { about: "ServiceAccount of the controller.", values: serviceAccount },
  podDisruptionBudget: { about: "PodDisruptionBudget of the Pods.", values: podDisruptionBudget },
  controller: { about: "Command line of the controller.", values: controller },
  actsAs: value<readonly ActsAs[] | null>({
    about:
      "The ServiceAccounts that Transactions can name, such as [{namespace: shop, serviceAccounts: [deployer]}]; without " +
      "serviceAccounts all of the namespace, which must exist. The controller cannot impersonate any other. null: every " +
      "ServiceAccount of the cluster.",
    schema: {
      ...list(
        record({ namespace: label, serviceAccounts: list(subdomain, { minItems: 1 }) }, { required: ["namespace"] }),
      ),
      type: ["array", "null"],
    },
    byDefault: null,
  }),
  stampsUsers: value({
    about:
      "Whether annotations of each Transaction name the users who created, edited, moved and approved it, and requested its " +
      "rollback, whatever their clients say. Requires Kubernetes 1.36 or newer.",
    schema: flag,
    byDefault: false,
  }),
  rbac: {
    about: "ClusterRoles for users.",
    values: {
      aggregateClusterRoles: value({
        about:
          "Whether the built-in roles edit and admin include the permissions on Transactions, and on Kanister's kinds where " +
          "blueprints.enabled is true; view, edit and admin those on the kinds of the Git journal where gitJournal.enabled is true. " +
          "false: bind the ClusterRoles janus-transactions-edit, janus-transactions-view, janus-blueprints-edit, " +
          "janus-blueprints-view, janus-git-journal-edit and janus-git-journal-view yourself.",
        schema: flag,
        byDefault: true,
      }),
    },
  },
  crds: {
    about: "CustomResourceDefinition of Transaction.",
    values: {
      enabled: value({
        about: "Whether the release has the CustomResourceDefinition. false: it must exist.",
        schema: flag,
        byDefault: true,
      }),
      keep: value({
        about:
          "Whether `helm uninstall` keeps it, and with it all Transactions. false: all Transactions are deleted along with it.",
        schema: flag,
        byDefault: true,
      }),
    },
  },
  networkPolicy: { about: "NetworkPolicy ingress and egress of the controller Pods.", values: networkPolicy },
  monitoring: { about: "Prometheus and Grafana.", values: monitoring },
  blueprints: {
    about:
      "The Blueprint controller. Image, Pods, logLevel, controller.metricsAuth, networkPolicy, podDisruptionBudget and monitoring are set as for the other controller.",
    values: blueprints,
  },
  gitJournal: {
    about:
      "The controller of the Git journal. Pods, logLevel, controller.metricsAuth, networkPolicy, podDisruptionBudget and monitoring are set as for the other controller.",
    values: gitJournal,
  },
  extraObjects: value<readonly (Json | string)[]>({
    about: "More objects of the release, as YAML or as text. Templates in them are rendered.",
    schema: list({ type: ["object", "string"] }),
    byDefault: [],
  }),
} as const;

/** Former names of values: who sets one is told the name of today. */
export const renamed: Readonly<Record<string, string>> = { replicas: "replicaCount" };

/** All values that a user can set. */
export type ChartValues = TypeOf<typeof values>;
