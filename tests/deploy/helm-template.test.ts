import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { Janus, type Manifest, render } from "@janus/deploy";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { refusedFlags } from "../../packages/deploy/src/controller-flags.ts";
import { version } from "../../packages/deploy/src/defaults.ts";
import { NUMBER_FLAGS, takesNumber } from "../../packages/git-journal/src/api/number-flags.ts";
import { refusedGitJournalFlags } from "../../packages/deploy/src/git-journal-flags.ts";
import { propsOf } from "../../packages/deploy/src/helm/props.ts";
import { defaultsOf } from "../../packages/deploy/src/helm/value.ts";
import { type ChartValues, values as all } from "../../packages/deploy/src/helm/values.ts";
import { chart, helmWith } from "../fixtures/helm.ts";
import { printedManifests } from "./install.ts";

type Json = Readonly<Record<string, unknown>>;

const isMap = (json: unknown): json is Json => typeof json === "object" && json !== null && !Array.isArray(json);

/** As Helm puts what a user writes over the defaults. */
const over = (defaults: Json, written: Json): Json => ({
  ...defaults,
  ...Object.fromEntries(
    Object.entries(written).map(([name, value]) => {
      const before = defaults[name];
      return [name, isMap(before) && isMap(value) ? over(before, value) : value];
    }),
  ),
});

const defaults = defaultsOf(all);

/** What has no default. */
const repository = "registry.example.com/janus";
const required: Json = { image: { repository } };

/** What the constructs make of these values. */
const constructed = (written: Json, namespace: string): readonly Manifest[] => {
  const values = over(defaults, over(required, written)) as unknown as ChartValues;
  return render((chart) => new Janus(chart, "Janus", propsOf(values, namespace)), values.commonLabels);
};

const template = (written: Json, namespace = "janus-system") =>
  helmWith(
    { stdin: JSON.stringify(over(required, written)) },
    "template",
    "janus",
    chart,
    "-n",
    namespace,
    "-f",
    "-",
    "--skip-tests",
  );

const documents = (text: string): readonly Manifest[] =>
  parseAllDocuments(text, { version: "1.1" }).flatMap((document) => {
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });

const byId = (objects: readonly Manifest[]): Readonly<Record<string, Manifest>> =>
  Object.fromEntries(
    objects.map((object) => [`${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, object]),
  );

/** Those that say what release an object is of. The constructs know none. */
const ofRelease = [
  "helm.sh/chart",
  "app.kubernetes.io/instance",
  "app.kubernetes.io/managed-by",
  "app.kubernetes.io/version",
] as const;

const without = (record: Json | undefined, keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(record ?? {}).filter(([key]) => !keys.includes(key)));

const unlessEmpty = (name: string, record: Json): Json => (Object.keys(record).length === 0 ? {} : { [name]: record });

/**
 * The objects but for what Helm has otherwise: the namespace is there before, what stays says so, each names its release, and the CRD
 * has labels.
 */
const comparable = (objects: readonly Manifest[]): Readonly<Record<string, Manifest>> =>
  byId(
    objects
      .filter(({ kind }) => kind !== "Namespace")
      .map((object) => {
        const { annotations, labels, ...metadata } = object.metadata as Manifest["metadata"] & { annotations?: Json };
        const otherLabels =
          object.kind === "CustomResourceDefinition"
            ? [...ofRelease, "app.kubernetes.io/name", "app.kubernetes.io/part-of"]
            : ofRelease;
        return {
          ...object,
          metadata: {
            ...metadata,
            ...unlessEmpty("labels", without(labels, otherLabels)),
            ...unlessEmpty("annotations", without(annotations, ["helm.sh/resource-policy"])),
          },
        };
      }),
  );

/** As helm does: the objects, or none and an exit code. */
const attempt = (written: Json, namespace: string) => {
  try {
    return { code: 0, objects: comparable(constructed(written, namespace)) };
  } catch {
    return { code: 1, objects: {} };
  }
};

const imageOf = async (image: Json) => /image: "(.*)"/u.exec((await template({ image })).stdout)?.[1];

/** Metadata of the CRD. */
const crdWith = async (crds: Json) =>
  documents((await template({ crds })).stdout).find(({ kind }) => kind === "CustomResourceDefinition")?.metadata;

const sets: Readonly<Record<string, Json>> = {
  nothing: {},
  "the leader alone ready": { controller: { readiness: "leader" } },
  "no leader election": { controller: { leaderElection: { enabled: false } } },
  "no leader election, and one replica": { replicaCount: 1, controller: { leaderElection: { enabled: false } } },
  "a log level": { logLevel: "warn" },
  "sensitive kinds": { controller: { sensitiveKinds: ["SealedSecret.bitnami.com", "ConfigMap"] } },
  "a default time to live": { controller: { defaultTtlSecondsAfterFinished: 604_800 } },
  "a default time to live of nothing": { controller: { defaultTtlSecondsAfterFinished: 0 } },
  "protected metrics": { controller: { metricsAuth: true } },
  "protected metrics for Prometheus": { controller: { metricsAuth: true }, monitoring: { enabled: true } },
  "no ServiceAccount to act as": { actsAs: [] },
  "an image with a tag of its own": { image: { tag: "2.0", pullPolicy: "Always" } },
  "a ServiceAccount that exists": { serviceAccount: { create: false, name: "mine" }, actsAs: [{ namespace: "shop" }] },
  "a budget of what stays": { podDisruptionBudget: { minAvailable: 0 } },
  "a budget as a share": { podDisruptionBudget: { maxUnavailable: "50%" } },
  "nothing that can be left out": {
    podDisruptionBudget: { enabled: false },
    networkPolicy: { enabled: false },
    crds: { enabled: false },
    rbac: { aggregateClusterRoles: false },
    topologySpreadConstraints: [],
  },
  "annotations of Pods in place of the chart's": { podAnnotations: { "prometheus.io/scrape": "false" } },
  "labels that the chart sets, too": {
    commonLabels: { "app.kubernetes.io/part-of": "other", "app.kubernetes.io/component": "other", team: "a" },
    podLabels: { "app.kubernetes.io/name": "other", team: "b" },
    monitoring: { enabled: true, prometheusLabels: { team: "c" } },
  },
  "the Blueprint controller": { blueprints: { enabled: true } },
  "both controllers for Prometheus": { blueprints: { enabled: true }, monitoring: { enabled: true } },
  "the Blueprint controller of one namespace, beside Kanister's CRDs": {
    blueprints: { enabled: true, crds: false, validation: "Off", watchNamespaces: ["shop"], replicas: 1 },
    networkPolicy: { enabled: false },
    topologySpreadConstraints: [],
  },
  "the Git journal": { gitJournal: { enabled: true } },
  "all controllers for Prometheus": {
    blueprints: { enabled: true },
    gitJournal: { enabled: true },
    monitoring: { enabled: true },
  },
  "the Git journal with all that can be set": {
    image: { digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000" },
    gitJournal: {
      enabled: true,
      crds: false,
      image: "registry.example.com/janus:1-git",
      resources: [{ apiGroups: ["cert-manager.io", "*"], resources: ["certificates"] }],
      secrets: false,
      webhook: { rules: "All", excludedNamespaces: [], certificateSecret: "webhook" },
      gitPorts: [7999],
      flags: ["--watch-all=false", '--discovery-exclude="a b"', "--watch-all"],
      replicas: 1,
      shards: true,
      podResources: { requests: {}, limits: { memory: "1Gi" } },
    },
    controller: { metricsAuth: true },
    logLevel: "debug",
    networkPolicy: { clients: [{ podSelector: {} }], apiServerCidrs: ["10.0.0.0/28"] },
    podDisruptionBudget: { minAvailable: 1 },
    rbac: { aggregateClusterRoles: false },
  },
  "the Git journal with nothing that can be left out": {
    gitJournal: { enabled: true, validateAuthors: false },
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
    topologySpreadConstraints: [],
  },
  everything: {
    image: {
      repository: "registry.example/janus",
      tag: "not-this-one",
      digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000",
      pullPolicy: "Never",
    },
    imagePullSecrets: [{ name: "one" }, { name: "two" }],
    commonLabels: { team: "platform", number: "1" },
    podLabels: { "sidecar.istio.io/inject": "false" },
    podAnnotations: { "cluster-autoscaler.kubernetes.io/safe-to-evict": "true" },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "pool", operator: "In", values: ["system"] }] }],
        },
      },
    },
    topologySpreadConstraints: [{ topologyKey: "rack", maxSkew: 2, whenUnsatisfiable: "DoNotSchedule" }],
    extraEnv: [
      { name: "HTTPS_PROXY", value: "http://proxy.example.com" },
      { name: "TOKEN", valueFrom: { secretKeyRef: { name: "tokens", key: "a" } } },
    ],
    serviceAccount: { name: "another", annotations: { "example.com/role": "janus" } },
    podDisruptionBudget: { minAvailable: "50%" },
    rbac: { aggregateClusterRoles: false },
    replicaCount: 3,
    logLevel: "error",
    resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: 2 } },
    priorityClassName: "system-cluster-critical",
    nodeSelector: { "kubernetes.io/arch": "amd64", "needs/quotes": "true" },
    tolerations: [{ key: "dedicated", operator: "Exists", effect: "NoSchedule" }, { operator: "Exists" }],
    controller: {
      metricsAuth: true,
      flags: ["--log-level=debug", '--with="quotes" and {{ braces }}'],
      leaderElection: {
        leaseName: "another",
        leaseNamespace: "there",
        leaseDurationSeconds: 2_000_000,
        renewDeadlineSeconds: 1_000_000,
        retryPeriodSeconds: 10,
      },
    },
    actsAs: [{ namespace: "shop", serviceAccounts: ["deployer", "db"] }, { namespace: "web" }],
    stampsUsers: true,
    blueprints: {
      enabled: true,
      defaultServiceAccount: "kanister-kanister-operator",
      podReadyTimeout: "1h30m",
      requireImpersonate: "Always",
      toolsImage: "registry.example.com/tools:1",
      maxRunningActions: 7,
      defaultTtlSecondsAfterFinished: 3600,
      validation: "Warn",
      watchNamespaces: ["kanister", "shop"],
      replicas: 3,
      resources: { requests: { cpu: "1" } },
    },
    networkPolicy: {
      clients: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      apiServerCidrs: ["10.0.0.0/28", "10.1.0.0/28"],
      apiServerPorts: [443, 6443],
    },
    monitoring: {
      enabled: true,
      prometheusLabels: { release: "prometheus", number: "1" },
      runbooks: "https://runbooks.example.com/janus",
    },
  },
};

describe("the chart", () => {
  it("passes helm lint", async () => {
    const { code, stdout } = await helmWith({}, "lint", "--strict", chart);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/WARNING|ERROR/) });
  });

  it("has by default the objects that npm run manifests prints, but for the namespace", async () => {
    const { stdout, stderr } = await template({});
    expect(stderr).toBe("");
    expect(comparable(documents(stdout))).toEqual(
      comparable(documents(printedManifests(`--image=${repository}:${version}`))),
    );
  });

  it.each(Object.entries(sets))("has the objects that the constructs make: %s", async (_, written) => {
    const { stdout, stderr } = await template(written, "elsewhere");
    expect(stderr).toBe("");
    expect(comparable(documents(stdout))).toEqual(comparable(constructed(written, "elsewhere")));
  });

  it("labels each object with its release", async () => {
    const objects = documents((await template(sets["everything"] ?? {})).stdout);
    expect(objects.length).toBeGreaterThan(30);
    const labels = {
      "helm.sh/chart": `janus-${version}`,
      "app.kubernetes.io/name": "janus",
      "app.kubernetes.io/instance": "janus",
      "app.kubernetes.io/version": version,
      "app.kubernetes.io/managed-by": "Helm",
    };
    for (const { metadata } of objects) expect(metadata).toMatchObject({ labels });
  });

  it("has other names if wanted, wherever they are used, but for what exists once in a cluster", async () => {
    const written = over(sets["everything"] ?? {}, { serviceAccount: { name: "" } });
    const named = async (names: Json) => JSON.stringify(byId(documents((await template(over(written, names))).stdout)));
    const usual = await named({});
    const controller = /janus-controller(?!-(?:limits|leader))/gu;
    const label = '"app.kubernetes.io/name":"janus"';
    expect(usual).toContain(label);

    expect(await named({ fullnameOverride: "true" })).toBe(usual.replaceAll(controller, "true"));
    const renamed = usual.replaceAll(label, '"app.kubernetes.io/name":"null"');
    expect(await named({ nameOverride: "null" })).toBe(renamed.replaceAll(controller, "null-controller"));
    expect(await named({ nameOverride: "null", fullnameOverride: "b" })).toBe(renamed.replaceAll(controller, "b"));
  });

  it("has more objects if wanted, with templates in them", async () => {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "{{ .Release.Name }}-more" }, data: { n: 1 } };
    const text = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ include "janus.fullname" . }}-more';
    const more = documents((await template({ extraObjects: [map, text] })).stdout).filter(({ metadata }) =>
      metadata.name.endsWith("-more"),
    );
    expect(byId(more)).toEqual({
      "ConfigMap /janus-more": { ...map, metadata: { name: "janus-more" } },
      "Secret /janus-controller-more": {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "janus-controller-more" },
      },
    });
  });

  it("has the image of its own version, unless another tag or a digest is set", async () => {
    expect(await imageOf({})).toBe(`${repository}:${version}`);
    expect(await imageOf({ tag: "2.0" })).toBe(`${repository}:2.0`);
    const digest = `sha256:${"0".repeat(64)}`;
    expect(await imageOf({ tag: "2.0", digest })).toBe(`${repository}@${digest}`);
  });

  it("deletes the CRD along with the release only if told to", async () => {
    expect(await crdWith({ keep: true })).toMatchObject({ annotations: { "helm.sh/resource-policy": "keep" } });
    expect(await crdWith({ keep: false })).not.toHaveProperty("annotations");
  });

  it("leaves the CRD and the fence where they are when it is uninstalled, and nothing else", async () => {
    const kept = documents((await template(sets["everything"] ?? {})).stdout).filter(({ metadata }) =>
      JSON.stringify(metadata).includes('"helm.sh/resource-policy":"keep"'),
    );
    expect(Object.keys(byId(kept)).toSorted()).toEqual([
      "CustomResourceDefinition /actionsets.cr.kanister.io",
      "CustomResourceDefinition /blueprints.cr.kanister.io",
      "CustomResourceDefinition /profiles.cr.kanister.io",
      "CustomResourceDefinition /transactions.backup.janus.io",
      "ValidatingAdmissionPolicy /janus-blueprints-fence",
      "ValidatingAdmissionPolicy /janus-fence",
      "ValidatingAdmissionPolicyBinding /janus-blueprints-fence",
      "ValidatingAdmissionPolicyBinding /janus-fence",
    ]);
  });
});

describe("the Blueprint controller", () => {
  it("is not there unless wanted, and neither are Kanister's kinds", async () => {
    expect((await template({})).stdout).not.toMatch(/kanister|janus-blueprints/);
    expect(printedManifests()).not.toMatch(/kanister|janus-blueprints/);
  });

  it("is in the chart what npm run manifests -- --blueprints prints", async () => {
    const printed = printedManifests(`--image=${repository}:${version}`, "--blueprints");
    const { stdout } = await template({ blueprints: { enabled: true } });
    expect(comparable(documents(stdout))).toEqual(comparable(documents(printed)));
  });
});

describe("the notes", () => {
  const notes = async (leaderElection: Json): Promise<string> => {
    const input = { stdin: JSON.stringify({ ...required, controller: { leaderElection } }) };
    const { stdout } = await helmWith(
      input,
      "install",
      "janus",
      chart,
      "-n",
      "elsewhere",
      "-f",
      "-",
      "--dry-run=client",
    );
    return stdout.split("\nNOTES:\n")[1] ?? "";
  };

  it.each<[Json, string]>([
    [{}, "kubectl get lease -n elsewhere janus-controller-leader "],
    [{ leaseNamespace: "there", leaseName: "another" }, "kubectl get lease -n there another "],
  ])("name the leader's Lease: %j", async (leaderElection, command) => {
    expect(await notes(leaderElection)).toContain(command);
  });

  it("name no Lease where there is none", async () => {
    const without = await notes({ enabled: false });
    expect(without).toContain("kubectl rollout status -n elsewhere deployment/janus-controller");
    expect(without).not.toContain("kubectl get lease");
  });
});

/** The Pod of `helm test`. */
const podOf = async (written: Json) => {
  const args = ["template", "janus", chart, "-n", "elsewhere", "-f", "-", "--show-only=templates/test-readiness.yaml"];
  const { stdout, stderr } = await helmWith({ stdin: JSON.stringify(over(required, written)) }, ...args);
  expect(stderr).toBe("");
  return documents(stdout)[0] as unknown as {
    readonly metadata: { readonly labels: Json; readonly annotations: Json };
    readonly spec: {
      readonly containers: readonly { readonly image: string; readonly command: string[]; readonly args: string[] }[];
    };
  };
};

describe("helm test", () => {
  it("is a Pod with the controller's image, which no policy and no Service of the controller selects", async () => {
    const { metadata, spec } = await podOf({ commonLabels: { "app.kubernetes.io/component": "controller" } });
    expect(metadata.annotations).toMatchObject({ "helm.sh/hook": "test" });
    expect(metadata.labels).toMatchObject({ "app.kubernetes.io/component": "test" });
    expect(spec.containers.map(({ image }) => image)).toEqual([`${repository}:${version}`]);
    const dockerfile = await readFile(path.join(chart, "../../Dockerfile"), "utf8");
    expect(dockerfile).toContain(`ENTRYPOINT ["${spec.containers[0]?.command[0]}"`);
  });

  it.each([
    [200, "ok", 0],
    [503, "not the leader", 1],
  ])("asks the leader, which answers %i", async (status, answer, code) => {
    const [container] = (await podOf({})).spec.containers;
    const asked: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      asked.push(url);
      response.writeHead(status).end(answer);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const service = "http://janus-controller.elsewhere.svc:8080";
    const program = container?.args[0]?.replace(service, `http://127.0.0.1:${port}`) ?? "";
    expect(program).not.toContain(service);
    const [, ...flags] = container?.command ?? [];
    const child = spawn(process.execPath, [...flags, program], { env: { WAIT_SECONDS: "1" } });
    const ended = once(child, "exit");
    expect(await text(child.stdout)).toContain(`/readyz: ${status} ${answer}\n`);
    expect(await ended).toEqual([code, null]);
    expect(new Set(asked)).toEqual(new Set(["/readyz"]));
  });
});

const timed = (leaseDurationSeconds: number, renewDeadlineSeconds: number, retryPeriodSeconds: number): Json => ({
  controller: { leaderElection: { leaseDurationSeconds, renewDeadlineSeconds, retryPeriodSeconds } },
});

describe("what cannot be right is refused, with a word on what to do", () => {
  const cases: readonly (readonly [string, Json, string])[] = [
    ["a typo", { replicaCont: 3 }, "additional properties 'replicaCont' not allowed"],
    ["a typo further down", { controller: { leaderElection: { leasename: "a" } } }, "'leasename' not allowed"],
    ["a text for a number", { replicaCount: "three" }, "/replicaCount"],
    ["no image", { image: { repository: "" } }, "image.repository is required: there is no public image"],
    ["a repository that is none", { image: { repository: "a b" } }, "/image/repository"],
    ["half a digest", { image: { digest: "sha256:00" } }, "/image/digest"],
    [
      "an environment variable that is there already",
      { extraEnv: [{ name: "POD_NAMESPACE", value: "shop" }] },
      "extraEnv: POD_NAMESPACE cannot be set: it is that of the Pod",
    ],
    ["a name that no Service can have", { fullnameOverride: "1" }, "/fullnameOverride"],
    [
      "a budget that is none",
      { podDisruptionBudget: { maxUnavailable: "half" } },
      "/podDisruptionBudget/maxUnavailable",
    ],
    ["another readiness", { controller: { readiness: "all" } }, "'any', 'leader'"],
    ["half seconds", timed(30, 20, 0.5), "/controller/leaderElection/retryPeriodSeconds"],
    [
      "a retry period that is too long",
      timed(30, 20, 20),
      "retryPeriodSeconds (20) must be less than renewDeadlineSeconds (20)",
    ],
    [
      "a lease that is too short",
      timed(24, 20, 5),
      "leaseDurationSeconds (24) must be at least renewDeadlineSeconds (20) and 5 s more",
    ],
    [
      "several replicas without leader election",
      { replicaCount: 2, controller: { leaderElection: { enabled: false } } },
      "without leader election there can be only one controller. Leave one of the two out.",
    ],
    [
      "an empty list of accounts, which would be all",
      { actsAs: [{ namespace: "shop", serviceAccounts: [] }] },
      "/actsAs/0/serviceAccounts",
    ],
    [
      "an empty list of namespaces, which would be all",
      { blueprints: { watchNamespaces: [] } },
      "/blueprints/watchNamespaces",
    ],
    [
      "a namespace that is watched twice",
      { blueprints: { watchNamespaces: ["a", "a"] } },
      "/blueprints/watchNamespaces",
    ],
    ["a namespace twice", { actsAs: [{ namespace: "shop" }, { namespace: "shop" }] }, "name the namespace shop once"],
    ["the namespace of the release", { actsAs: [{ namespace: "janus-system" }] }, "not that of the release"],
    ["no port, which would be all", { networkPolicy: { apiServerPorts: [] } }, "/networkPolicy/apiServerPorts"],
    ["a flag that is none", { controller: { flags: ["log-level=debug"] } }, "/controller/flags/0"],
    [
      "a flag that another value sets",
      { controller: { flags: ["--log-level=debug", "--leader-elect=false"] } },
      "controller.flags: --leader-elect cannot be given here: set leaderElection.enabled instead",
    ],
    ["the same flag alone", { controller: { flags: ["--metrics-auth"] } }, "set metricsAuth instead"],
    [
      "a flag that other objects rely on",
      { controller: { flags: ["--http-port=9"] } },
      "--http-port cannot be given here: it is always 8080",
    ],
    [
      "a duration that no Lease can have",
      timed(9_999_999_999, 20, 5),
      "at '/controller/leaderElection/leaseDurationSeconds': maximum",
    ],
    ["more replicas than a Deployment can have", { replicaCount: 9_999_999_999 }, "at '/replicaCount': maximum"],
    ["no controller at all", { replicaCount: 0 }, "at '/replicaCount': minimum"],
    ["a value by its former name", { replicas: 2 }, "replicas is called replicaCount: set that instead"],
    ["a log level that there is not", { logLevel: "loud" }, "at '/logLevel': value must be one of 'debug'"],
    ["no port of a git server, which would be all", { gitJournal: { gitPorts: [] } }, "/gitJournal/gitPorts"],
    [
      "an image of the Git journal that has no name",
      { image: { digest: `sha256:${"0".repeat(64)}` }, gitJournal: { enabled: true } },
      "gitJournal.image is required where the image has a digest",
    ],
    ["to take a value away", { resources: null }, "missing property 'resources'"],
  ];
  it.each(cases)("%s", async (_, written, why) => {
    const { code, stdout, stderr } = await template(written);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(why);
  });

  it.each(Object.entries(refusedFlags))("the flag %s, as the constructs do", async (flag, instead) => {
    const { code, stderr } = await template({ controller: { flags: [`${flag}=1`] } });
    expect(code).toBe(1);
    expect(stderr).toContain(`controller.flags: ${flag} cannot be given here: ${instead}`);
  });

  it.each(Object.entries(refusedGitJournalFlags))("the flag %s of the Git journal", async (flag, instead) => {
    const { code, stderr } = await template({ gitJournal: { enabled: true, flags: [`${flag}=1`] } });
    expect(code).toBe(1);
    expect(stderr).toContain(`gitJournal.flags: ${flag} cannot be given here: ${instead}`);
  });

  it.each(Object.entries(NUMBER_FLAGS).filter(([flag]) => !(`--${flag}` in refusedGitJournalFlags)))(
    "the flag %s of the Git journal without a number",
    async (flag, bounds) => {
      const [least, most] = bounds;
      const said = (value: string) => template({ gitJournal: { enabled: true, flags: [`--${flag}=${value}`] } });
      for (const value of ["five", "", "1x", String(most + 1)])
        expect((await said(value)).stderr, value).toContain(`gitJournal.flags: ${takesNumber(flag, bounds)}`);
      for (const value of [least, most]) expect(await said(String(value))).toMatchObject({ code: 0 });
    },
  );

  it("but not a short lease where writes are given less time", async () => {
    const { controller } = timed(24, 20, 5) as { controller: Json };
    expect(await template({ controller: { ...controller, flags: ["--write-timeout=2s"] } })).toMatchObject({ code: 0 });
  });
});

const some = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined });
const name = fc.constantFrom("a", "b-c", "true", "1e3", "null");
const labels = fc.dictionary(fc.constantFrom("a", "b-c", "true", "app.kubernetes.io/part-of"), name, { maxKeys: 2 });
const seconds = fc.constantFrom(1, 5, 10, 15, 20, 30, 60);
const written = fc
  .record({
    image: some(
      fc.record({
        repository: fc.constantFrom("", "a", "a/b", "a:5000/b", "yes"),
        tag: some(fc.constantFrom("", "1", "1e3")),
        pullPolicy: some(fc.constantFrom("Always", "Never")),
      }),
    ),
    imagePullSecrets: some(fc.array(fc.record({ name }), { maxLength: 2 })),
    commonLabels: some(labels),
    podLabels: some(labels),
    podAnnotations: some(labels),
    affinity: some(fc.constantFrom({}, { podAntiAffinity: {} })),
    topologySpreadConstraints: some(fc.constantFrom(null, [], [{ topologyKey: "a" }])),
    extraEnv: some(fc.array(fc.record({ name: fc.constantFrom("A", "POD_NAME"), value: name }), { maxLength: 1 })),
    serviceAccount: some(fc.record({ create: some(fc.boolean()), name: some(name), annotations: some(labels) })),
    podDisruptionBudget: some(
      fc.record({
        enabled: some(fc.boolean()),
        minAvailable: some(fc.constantFrom(null, 0, 1, "50%")),
        maxUnavailable: some(fc.constantFrom(0, 2, "50%")),
      }),
    ),
    rbac: some(fc.record({ aggregateClusterRoles: fc.boolean() })),
    crds: some(fc.record({ enabled: fc.boolean(), keep: fc.boolean() })),
    replicaCount: some(fc.constantFrom(null, 0, 1, 2)),
    logLevel: some(fc.constantFrom("info", "debug")),
    priorityClassName: some(fc.constantFrom("", "a")),
    tolerations: some(fc.array(fc.record({ key: name }), { maxLength: 2 })),
    nodeSelector: some(fc.dictionary(name, name, { maxKeys: 2 })),
    stampsUsers: some(fc.boolean()),
    actsAs: some(
      fc.option(
        fc.uniqueArray(fc.record({ namespace: fc.constantFrom("a", "b", "null") }), {
          maxLength: 2,
          selector: ({ namespace }) => namespace,
        }),
      ),
    ),
    controller: some(
      fc.record({
        readiness: some(fc.constantFrom("any", "leader")),
        metricsAuth: some(fc.boolean()),
        defaultTtlSecondsAfterFinished: some(fc.option(fc.nat())),
        flags: some(fc.subarray(["--log-level=debug", "--write-timeout=1s", "--x=\\ '"])),
        leaderElection: some(
          fc.record({
            enabled: some(fc.boolean()),
            leaseName: some(name),
            leaseNamespace: some(fc.constantFrom("", "a")),
            leaseDurationSeconds: some(seconds),
            renewDeadlineSeconds: some(seconds),
            retryPeriodSeconds: some(seconds),
          }),
        ),
      }),
    ),
    networkPolicy: some(
      fc.record({
        enabled: some(fc.boolean()),
        clients: some(fc.subarray([{ podSelector: {} }, { ipBlock: { cidr: "10.0.0.0/8" } }])),
        apiServerCidrs: some(fc.subarray(["10.0.0.0/28", "::1/128"])),
        apiServerPorts: some(fc.subarray([443, 6443], { minLength: 1 })),
      }),
    ),
    gitJournal: some(
      fc.record({
        enabled: some(fc.boolean()),
        image: some(fc.constantFrom("", "a:1")),
        secrets: some(fc.boolean()),
        validateAuthors: some(fc.boolean()),
        shards: some(fc.boolean()),
        gitPorts: some(fc.subarray([22, 443], { minLength: 1 })),
        flags: some(fc.subarray(["--watch-all", "--watch-all=false", "--webhook-port=1"])),
        webhook: some(fc.record({ excludedNamespaces: some(fc.uniqueArray(name, { maxLength: 2 })) })),
      }),
    ),
    monitoring: some(
      fc.record({
        enabled: some(fc.boolean()),
        prometheusLabels: some(fc.dictionary(name, name, { maxKeys: 2 })),
      }),
    ),
  })
  .map((record) => JSON.parse(JSON.stringify(record)) as Json);

it("chart and constructs produce the same objects from any values, or both refuse them", async () => {
  await fc.assert(
    fc.asyncProperty(written, async (one) => {
      const { code, stdout } = await template(one, "elsewhere");
      expect({ code, objects: comparable(documents(stdout)) }).toEqual(attempt(one, "elsewhere"));
    }),
    { numRuns: 40 },
  );
});
