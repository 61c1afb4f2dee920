import { longestLeaseDuration } from "../controller-flags.ts";
import { defaultNodeSelector, defaultResources } from "../controller-deployment.ts";
import { defaultApiServerPorts } from "../controller-network-policy.ts";
import { defaultImage } from "../defaults.ts";
import type { ActsAs } from "../impersonation-roles.ts";
import { leaderElectionDefaults } from "../leader-election.ts";
import { defaultRunbooks } from "../prometheus-rule.ts";
import type { Readiness } from "../readiness.ts";
import { type Choice, type Schema, type TypeOf, value } from "./value.ts";

type Texts = Readonly<Record<string, string>>;
type Objects = readonly Readonly<Record<string, unknown>>[];

const text: Schema = { type: "string" };
const texts: Schema = { type: "object", additionalProperties: text };
const list = (items: Schema, more: Schema = {}): Schema => ({ type: "array", items, ...more });
const record = (properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: "object",
  additionalProperties: false,
  properties,
  ...more,
});

/** Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
const label: Schema = { type: "string", pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" };
const subdomain: Schema = { type: "string", maxLength: 253, pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$" };
const quantities: Schema = { type: "object", additionalProperties: { type: ["string", "number"] } };
const seconds: Schema = { type: "integer", minimum: 1, maximum: longestLeaseDuration };

/** Yes or no. */
const flag: Choice<boolean> = { when: (value) => value, yes: true, no: false };
const isNull = (value: string): string => `kindIs "invalid" ${value}`;

const { requests, limits } = defaultResources;
const plain = (quantities: typeof requests): Texts =>
  Object.fromEntries(Object.entries(quantities ?? {}).map(([name, quantity]) => [name, `${quantity.value}`]));

const sampleAccounts: ActsAs = { namespace: "sample-acts-in", serviceAccounts: ["sample-acts-as"] };

const leaderElection = {
  enabled: value({
    about: "Whether one of several controllers leads. Without it there can be one replica only, and nothing is fenced.",
    schema: { type: "boolean" },
    byDefault: true,
    choice: flag,
  }),
  leaseName: value<string>({
    about: "Name of the leader's Lease.",
    schema: subdomain,
    byDefault: leaderElectionDefaults.leaseName,
    sample: "sample-lease",
  }),
  leaseNamespace: value({
    about: "Namespace of the leader's Lease, which exists. Empty: that of the release.",
    schema: { ...label, pattern: `^$|${String(label["pattern"])}` },
    byDefault: "",
    sample: "sample-of-the-lease",
    read: (value) => `default $.Release.Namespace ${value}`,
  }),
  leaseDurationSeconds: value<number>({
    about: "For how many seconds the others leave a leader alone that they do not see renew.",
    schema: seconds,
    byDefault: leaderElectionDefaults.leaseDurationSeconds,
    sample: 910_030,
  }),
  renewDeadlineSeconds: value<number>({
    about:
      "A leader that could not renew for so many seconds stops. Together with the write timeout (5 s) no longer than leaseDurationSeconds.",
    schema: seconds,
    byDefault: leaderElectionDefaults.renewDeadlineSeconds,
    sample: 910_020,
  }),
  retryPeriodSeconds: value<number>({
    about: "Seconds between two renewals, and between two looks of a standby. Shorter than renewDeadlineSeconds.",
    schema: seconds,
    byDefault: leaderElectionDefaults.retryPeriodSeconds,
    sample: 910_010,
  }),
} as const;

const controller = {
  readiness: value<Readiness>({
    about:
      "Which controllers are ready. any: all that work; updates, drains and `helm --wait` come to their end. leader: the leader alone; " +
      "with more than one replica `helm --wait` then waits for ever.",
    schema: { enum: ["any", "leader"] },
    byDefault: "any",
    choice: { when: (value) => `eq ${value} "leader"`, yes: "leader", no: "any" },
  }),
  metricsAuth: value({
    about: "Whether /metrics answers only those who may `get` it, by the token that they bring.",
    schema: { type: "boolean" },
    byDefault: false,
    choice: flag,
  }),
  flags: value<readonly string[]>({
    about:
      "More flags of the controller, such as --log-level=debug; `janus-controller --help` has all. Refused are those that other values set " +
      "(leader election, readiness, metricsAuth), --namespace and --http-port.",
    schema: list({ type: "string", pattern: "^--" }),
    byDefault: [],
    sample: ["--sample-flag"],
    optional: true,
  }),
  leaderElection: { about: "How one of several controllers becomes the leader.", values: leaderElection },
} as const;

const networkPolicy = {
  clients: value<Objects>({
    about: "Who may reach the controller's HTTP port, as peers of a NetworkPolicy. Empty: everybody in the cluster.",
    schema: list({ type: "object" }),
    byDefault: [],
    sample: [{ ipBlock: { cidr: "sample-client" } }],
    optional: true,
  }),
  apiServerCidrs: value<readonly string[]>({
    about:
      "Where the API server is, as CIDRs of its own addresses (not that of the Service kubernetes). Empty: anywhere.",
    schema: list(text),
    byDefault: [],
    sample: ["sample-cidr"],
    optional: true,
  }),
  apiServerPorts: value<readonly number[]>({
    about: "Ports of the API server behind the Service kubernetes.",
    schema: list({ type: "integer", minimum: 1, maximum: 65_535 }, { minItems: 1 }),
    byDefault: defaultApiServerPorts,
    sample: [910_443],
  }),
} as const;

const monitoring = {
  enabled: value({
    about: "Whether Prometheus and Grafana are told of Janus. Takes the CRDs of the Prometheus Operator.",
    schema: { type: "boolean" },
    byDefault: false,
    choice: flag,
  }),
  prometheusLabels: value<Texts>({
    about:
      "More labels of ServiceMonitor and PrometheusRule: those by which your Prometheus selects them, such as release: prometheus.",
    schema: texts,
    byDefault: {},
    sample: { "sample-label": "sample" },
    optional: true,
  }),
  runbooks: value<string>({
    about: "Where the runbooks are, one page <alert>.md for each alert.",
    schema: { type: "string", pattern: '^https?://[^\\s"\\\\]+$' },
    byDefault: defaultRunbooks,
    sample: "https://sample.invalid/runbooks",
  }),
} as const;

/**
 * All that can be set, with its documentation and default: `values.yaml`, `values.schema.json` and the templates come out of this.
 * The names are those of the props of the constructs.
 */
export const values = {
  image: value<string>({
    about: "Image of the controller, with tag or digest.",
    schema: { type: "string", minLength: 1 },
    byDefault: defaultImage,
    sample: "sample.invalid/image",
  }),
  imagePullSecrets: value<readonly string[]>({
    about: "Names of the Secrets, in the namespace of the release, with which the image is pulled.",
    schema: list(subdomain),
    byDefault: [],
    sample: ["sample-pull-secret"],
    optional: true,
  }),
  replicas: value<number | null>({
    about: "How many controllers run. One of them leads. null: 2, or 1 without leader election.",
    schema: { type: ["integer", "null"], minimum: 0, maximum: 2 ** 31 - 1 },
    byDefault: null,
    sample: 910_002,
    choice: { when: isNull, yes: null, no: 910_002 },
  }),
  resources: value<{ readonly requests?: Texts; readonly limits?: Texts }>({
    about:
      "What one controller asks of its node, and may use at most. No CPU limit: a throttled controller renews its locks late.",
    schema: record({ requests: quantities, limits: quantities }),
    byDefault: { requests: plain(requests), limits: plain(limits) },
    sample: { requests: { "sample-resource": "1" } },
  }),
  priorityClassName: value({
    about: "PriorityClass of the Pods. Empty: the cluster's default.",
    schema: text,
    byDefault: "",
    sample: "sample-priority",
    optional: true,
  }),
  nodeSelector: value<Texts>({
    about: "Labels of the nodes on which the controller may run.",
    schema: texts,
    byDefault: defaultNodeSelector,
    sample: { "sample-node": "sample" },
  }),
  tolerations: value<Objects>({
    about: "Taints of nodes that do not keep the controller away.",
    schema: list({ type: "object" }),
    byDefault: [],
    sample: [{ key: "sample-taint" }],
    optional: true,
  }),
  controller: { about: "What the controller is told on its command line.", values: controller },
  actsAs: value<readonly ActsAs[] | null>({
    about:
      "The ServiceAccounts that Transactions can name, such as [{namespace: shop, serviceAccounts: [deployer]}]; without serviceAccounts all of the " +
      "namespace, which exists. The controller has no right to act as any other. null: every ServiceAccount of the cluster.",
    schema: {
      ...list(
        record({ namespace: label, serviceAccounts: list(subdomain, { minItems: 1 }) }, { required: ["namespace"] }),
      ),
      type: ["array", "null"],
    },
    byDefault: null,
    sample: [sampleAccounts],
    choice: { when: isNull, yes: null, no: [sampleAccounts] },
  }),
  stampsRequester: value({
    about:
      "Whether each Transaction says in an annotation who created it. Takes a cluster of Kubernetes 1.36 or newer.",
    schema: { type: "boolean" },
    byDefault: false,
    choice: flag,
  }),
  networkPolicy: { about: "What the controllers say and hear.", values: networkPolicy },
  monitoring: { about: "ServiceMonitor, alerts and dashboard.", values: monitoring },
} as const;

/** What a user can write, all of it. */
export type ChartValues = TypeOf<typeof values>;
