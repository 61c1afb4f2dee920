import { installation, type Manifest } from "@janus/deploy";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { propsOf } from "../../packages/deploy/src/helm/props.ts";
import { collect } from "../../packages/deploy/src/helm/value.ts";
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

const defaults = collect(all, ({ value }) => value.byDefault);

/** What the constructs make of these values. */
const constructed = (written: Json, namespace: string): readonly Manifest[] =>
  installation(propsOf(over(defaults, written) as unknown as ChartValues, namespace));

const template = (written: Json, namespace = "janus-system") =>
  helmWith({ stdin: JSON.stringify(written) }, "template", "janus", chart, "-n", namespace, "-f", "-");

const documents = (text: string): readonly Manifest[] =>
  parseAllDocuments(text, { version: "1.1" }).flatMap((document) => {
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });

const byId = (objects: readonly Manifest[]): Readonly<Record<string, Manifest>> =>
  Object.fromEntries(
    objects.map((object) => [`${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, object]),
  );

/** The objects but for what Helm has otherwise: the namespace is there before, and what stays says so. */
const comparable = (objects: readonly Manifest[]): Readonly<Record<string, Manifest>> =>
  byId(
    objects
      .filter(({ kind }) => kind !== "Namespace")
      .map((object) => {
        const { annotations, ...metadata } = object.metadata as Manifest["metadata"] & { annotations?: Json };
        const { "helm.sh/resource-policy": _, ...others } = annotations ?? {};
        return {
          ...object,
          metadata: { ...metadata, ...(Object.keys(others).length === 0 ? {} : { annotations: others }) },
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

const sets: Readonly<Record<string, Json>> = {
  nothing: {},
  "the leader alone ready": { controller: { readiness: "leader" } },
  "no leader election": { controller: { leaderElection: { enabled: false } } },
  "no leader election, and one replica": { replicas: 1, controller: { leaderElection: { enabled: false } } },
  "no controller at all": { replicas: 0 },
  "protected metrics": { controller: { metricsAuth: true } },
  "protected metrics for Prometheus": { controller: { metricsAuth: true }, monitoring: { enabled: true } },
  "no ServiceAccount to act as": { actsAs: [] },
  everything: {
    image: "registry.example/janus@sha256:0000000000000000000000000000000000000000000000000000000000000000",
    imagePullSecrets: ["one", "two"],
    replicas: 3,
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
    stampsRequester: true,
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
    expect(comparable(documents(stdout))).toEqual(comparable(documents(printedManifests())));
  });

  it.each(Object.entries(sets))("has the objects that the constructs make: %s", async (_, written) => {
    const { stdout, stderr } = await template(written, "elsewhere");
    expect(stderr).toBe("");
    expect(comparable(documents(stdout))).toEqual(comparable(constructed(written, "elsewhere")));
  });

  it("leaves the CRD and the fence where they are when it is uninstalled, and nothing else", async () => {
    const kept = documents((await template(sets["everything"] ?? {})).stdout).filter(({ metadata }) =>
      JSON.stringify(metadata).includes('"helm.sh/resource-policy":"keep"'),
    );
    expect(Object.keys(byId(kept)).toSorted()).toEqual([
      "CustomResourceDefinition /transactions.backup.janus.io",
      "ValidatingAdmissionPolicy /janus-fence",
      "ValidatingAdmissionPolicyBinding /janus-fence",
    ]);
  });
});

describe("the notes", () => {
  const notes = async (leaderElection: Json): Promise<string> => {
    const input = { stdin: JSON.stringify({ controller: { leaderElection } }) };
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

const timed = (leaseDurationSeconds: number, renewDeadlineSeconds: number, retryPeriodSeconds: number): Json => ({
  controller: { leaderElection: { leaseDurationSeconds, renewDeadlineSeconds, retryPeriodSeconds } },
});

describe("what cannot be right is refused, with a word on what to do", () => {
  const cases: readonly (readonly [string, Json, string])[] = [
    ["a typo", { replica: 3 }, "additional properties 'replica' not allowed"],
    ["a typo further down", { controller: { leaderElection: { leasename: "a" } } }, "'leasename' not allowed"],
    ["a text for a number", { replicas: "three" }, "/replicas"],
    ["an image that is none", { image: "" }, "/image"],
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
      { replicas: 2, controller: { leaderElection: { enabled: false } } },
      "without leader election there can be only one controller. Leave one of the two out.",
    ],
    [
      "an empty list of accounts, which would be all",
      { actsAs: [{ namespace: "shop", serviceAccounts: [] }] },
      "/actsAs/0/serviceAccounts",
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
    ["more replicas than a Deployment can have", { replicas: 9_999_999_999 }, "at '/replicas': maximum"],
    ["to take a value away", { resources: null }, "missing property 'resources'"],
  ];
  it.each(cases)("%s", async (_, written, why) => {
    const { code, stdout, stderr } = await template(written);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(why);
  });

  it("but not a short lease where writes are given less time", async () => {
    const { controller } = timed(24, 20, 5) as { controller: Json };
    expect(await template({ controller: { ...controller, flags: ["--write-timeout=2s"] } })).toMatchObject({ code: 0 });
  });
});

const some = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined });
const name = fc.constantFrom("a", "b-c", "true", "1e3", "null");
const seconds = fc.constantFrom(1, 5, 10, 15, 20, 30, 60);
const written = fc
  .record({
    image: some(fc.constantFrom("a", "a/b:1", "yes")),
    imagePullSecrets: some(fc.array(name, { maxLength: 2 })),
    replicas: some(fc.constantFrom(null, 0, 1, 2)),
    priorityClassName: some(fc.constantFrom("", "a")),
    tolerations: some(fc.array(fc.record({ key: name }), { maxLength: 2 })),
    nodeSelector: some(fc.dictionary(name, name, { maxKeys: 2 })),
    stampsRequester: some(fc.boolean()),
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
        clients: some(fc.subarray([{ podSelector: {} }, { ipBlock: { cidr: "10.0.0.0/8" } }])),
        apiServerCidrs: some(fc.subarray(["10.0.0.0/28", "::1/128"])),
        apiServerPorts: some(fc.subarray([443, 6443], { minLength: 1 })),
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

it("chart and constructs make the same of whatever is written, or both refuse it", async () => {
  await fc.assert(
    fc.asyncProperty(written, async (one) => {
      const { code, stdout } = await template(one, "elsewhere");
      expect({ code, objects: comparable(documents(stdout)) }).toEqual(attempt(one, "elsewhere"));
    }),
    { numRuns: 40 },
  );
}, 300_000);
