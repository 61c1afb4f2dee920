// Tests on the API server that an object of any kind, changed in any way, is as it was recorded after a Transaction from Git.
import type { JsonObject } from "@janus/types";
import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { within } from "../fixtures/manifests.ts";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { workspace } from "../fixtures/workspace.ts";
import { janus } from "./command-line.ts";
import { FOLDER, journalRepository, texts } from "./journal-repository.ts";

const labels = { app: "web" };
const selector = { matchLabels: labels };
const containers = (...all: readonly JsonObject[]): JsonObject => ({ metadata: { labels }, spec: { containers: all } });
const web = {
  name: "web",
  image: "web:1",
  args: ["a", "b"],
  env: [{ name: "A", value: "1" }],
  ports: [{ containerPort: 80 }],
};
const backend = (number: number): JsonObject => ({ service: { name: "web", port: { number } } });
const paths = (...all: readonly (readonly [string, number])[]): JsonObject => ({
  rules: [
    {
      host: "x.example.com",
      http: { paths: all.map(([path, port]) => ({ path, pathType: "Prefix", backend: backend(port) })) },
    },
  ],
});
const rule = (...verbs: readonly string[]): JsonObject => ({ apiGroups: [""], resources: ["configmaps"], verbs });

/** Of each kind what is recorded, and what somebody makes of it: fields and items that are changed, added, gone, and in another order. */
const KINDS: readonly (readonly [apiVersion: string, kind: string, name: string, good: JsonObject, bad: JsonObject])[] =
  [
    ["v1", "ConfigMap", "data", { data: { a: "1", b: "2" } }, { data: { a: "x", c: "3" }, binaryData: { d: "AAEC" } }],
    [
      "v1",
      "ConfigMap",
      "labelled",
      { metadata: { labels: { a: "1" }, annotations: { "x/y": "1" } } },
      { metadata: { labels: { b: "1" } } },
    ],
    [
      "v1",
      "Service",
      "ports",
      {
        spec: {
          selector: labels,
          ports: [
            { name: "http", port: 80 },
            { name: "tls", port: 443 },
          ],
        },
      },
      { spec: { selector: { app: "other" }, ports: [{ name: "http", port: 81 }], sessionAffinity: "ClientIP" } },
    ],
    [
      "v1",
      "Service",
      "selector",
      { spec: { selector: { a: "1", b: "2" }, ports: [{ port: 80 }] } },
      { spec: { selector: { a: "2", b: "2" }, ports: [{ port: 80 }] } },
    ],
    [
      "v1",
      "ServiceAccount",
      "account",
      { imagePullSecrets: [{ name: "a" }] },
      { imagePullSecrets: [{ name: "b" }], automountServiceAccountToken: false },
    ],
    [
      "apps/v1",
      "Deployment",
      "image",
      { spec: { replicas: 0, selector, template: containers(web, { name: "log", image: "log:1" }) } },
      {
        spec: {
          replicas: 0,
          selector,
          template: containers({ ...web, image: "web:2" }, { name: "log", image: "log:1" }),
        },
      },
    ],
    [
      "apps/v1",
      "Deployment",
      "much",
      { spec: { replicas: 0, selector, template: containers(web, { name: "log", image: "log:1" }) } },
      {
        spec: {
          replicas: 0,
          selector,
          strategy: { type: "Recreate" },
          template: containers(
            { name: "new", image: "new:1" },
            {
              name: "web",
              image: "web:2",
              args: ["b"],
              env: [
                { name: "B", value: "1" },
                { name: "A", value: "2" },
              ],
            },
          ),
        },
      },
    ],
    [
      "apps/v1",
      "StatefulSet",
      "ordered",
      { spec: { replicas: 0, serviceName: "web", selector, template: containers(web) } },
      {
        spec: {
          replicas: 0,
          serviceName: "web",
          selector,
          podManagementPolicy: "OrderedReady",
          template: containers({ ...web, args: ["c"] }),
        },
      },
    ],
    [
      "batch/v1",
      "CronJob",
      "nightly",
      {
        spec: {
          schedule: "0 3 * * *",
          suspend: true,
          jobTemplate: { spec: { template: { spec: { containers: [web], restartPolicy: "Never" } } } },
        },
      },
      {
        spec: {
          schedule: "0 4 * * *",
          suspend: true,
          timeZone: "UTC",
          jobTemplate: { spec: { template: { spec: { containers: [web], restartPolicy: "OnFailure" } } } },
        },
      },
    ],
    [
      "networking.k8s.io/v1",
      "Ingress",
      "paths",
      { spec: paths(["/", 80], ["/a", 81]) },
      { spec: paths(["/a", 82], ["/b", 80], ["/", 80]) },
    ],
    [
      "networking.k8s.io/v1",
      "NetworkPolicy",
      "open",
      { spec: { podSelector: {}, policyTypes: ["Ingress"] } },
      { spec: { podSelector: selector, policyTypes: ["Ingress", "Egress"], egress: [{}] } },
    ],
    [
      "policy/v1",
      "PodDisruptionBudget",
      "budget",
      { spec: { minAvailable: "50%", selector } },
      { spec: { maxUnavailable: 1, selector } },
    ],
    [
      "rbac.authorization.k8s.io/v1",
      "Role",
      "reader",
      { rules: [rule("get", "list")] },
      { rules: [rule("list"), rule("delete")] },
    ],
    [
      "autoscaling/v2",
      "HorizontalPodAutoscaler",
      "scaled",
      { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" } } },
      {
        spec: {
          minReplicas: 2,
          maxReplicas: 9,
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "other" },
        },
      },
    ],
  ];

const manifest = (
  namespace: string,
  [apiVersion, kind, name]: (typeof KINDS)[number],
  fields: JsonObject,
): Manifest => {
  const { metadata, ...rest } = fields;
  return within(namespace, { apiVersion, kind, metadata: { ...(metadata as JsonObject | undefined), name }, ...rest });
};

const write = (verb: readonly string[], items: readonly Manifest[]): Promise<Outcome> =>
  kubectlWith({ stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items }) }, ...verb, "-f", "-");

const WRITERS = [
  ["kubectl apply, and then kubectl replace", ["apply"], ["replace"]],
  ["one manager by server-side apply", ["apply", "--server-side"], ["apply", "--server-side"]],
  [
    "two managers by server-side apply",
    ["apply", "--server-side", "--field-manager=a"],
    ["apply", "--server-side", "--force-conflicts", "--field-manager=b"],
  ],
] as const;

const SHARE = share({ npmTest: 3, ci: 3 });

it.each(sampled(WRITERS, SHARE))(
  `what was recorded is live again, whoever has changed it: %s${showShare("way", SHARE)}`,
  async (_, first, second) => {
    const { namespace, over, janus: controller } = await workspace();
    const repository = journalRepository();
    const all = KINDS.map((one) => manifest(namespace, one, one[3]));
    expect(await write(first, all)).toMatchObject({ code: 0 });
    const good = await repository.record(...all);
    const before = await texts(all);
    // What server-side apply merges is not valid for each of them.
    await write(
      second,
      KINDS.map((one) => manifest(namespace, one, one[4])),
    );
    const changed = (await texts(all)).filter((text, at) => text !== before[at]);
    expect(changed.length).toBeGreaterThan(KINDS.length / 2);

    await controller();
    const flags = ["-n", namespace, "--service-account", "deployer", "--repo", repository.directory];
    const drafted = await janus("plan", "--from-git", good, FOLDER, ...flags, "--as-draft", "txn");
    expect(drafted, drafted.stdout + drafted.stderr).toMatchObject({ code: 1 });
    await janus("approve", "txn", "-n", namespace, "--yes", "--as", "bob", "--as-group", "system:masters");
    const { status } = await over();
    expect(status.phase, JSON.stringify(status.conditions)).toBe("Committed");
    expect(await texts(all)).toEqual(before);
  },
);
