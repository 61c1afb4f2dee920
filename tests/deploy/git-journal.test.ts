import {
  GitJournalPolicies,
  GitJournalUserRoles,
  installation,
  type JanusProps,
  type Manifest,
  render,
} from "@janus/deploy";
import { describe, expect, it } from "vitest";
import { gitJournalCrds } from "../../packages/git-journal/src/index.ts";
import { kubectl, kubectlWith, userKubeconfig } from "../fixtures/cluster.ts";
import { role, roleBinding, within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { rightsIn, rulesOf } from "./permissions.ts";

const ofJournal = (props: JanusProps): readonly Manifest[] =>
  installation(props).filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/component"] === "git-journal");

const kindsOf = (manifests: readonly Manifest[]): readonly string[] =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);

const of = (verbs: string, ...resources: readonly string[]): readonly string[] =>
  resources.flatMap((resource) => verbs.split(" ").map((verb) => `${verb} ${resource}`));

const KINDS = ["gitrepoconfigs", "gitdestinations", "watchrules", "clusterwatchrules"];

const PRESET = [
  ...["deployments", "statefulsets", "daemonsets"].map((plural) => `${plural}.apps`),
  "services",
  "configmaps",
  "serviceaccounts",
  "resourcequotas",
  "limitranges",
  ...["ingresses", "networkpolicies"].map((plural) => `${plural}.networking.k8s.io`),
  ...["roles", "rolebindings", "clusterroles", "clusterrolebindings"].map(
    (plural) => `${plural}.rbac.authorization.k8s.io`,
  ),
  "poddisruptionbudgets.policy",
  "customresourcedefinitions.apiextensions.k8s.io",
  "apiservices.apiregistration.k8s.io",
  "priorityclasses.scheduling.k8s.io",
  "storageclasses.storage.k8s.io",
];

/** In all namespaces. */
const everywhere = [
  ...of("get list watch", ...PRESET),
  "get secrets",
  ...of("get list watch", ...KINDS.map((plural) => `${plural}.configbutler.ai`)),
  ...of("patch", ...KINDS.map((plural) => `${plural}/status.configbutler.ai`)),
  ...of("get list watch", "transactions.backup.janus.io", "namespaces"),
  ...of("create patch", "events"),
  ...of("get patch", "validatingwebhookconfigurations.admissionregistration.k8s.io"),
];

/** In its own namespace. */
const home = [
  ...of("get list watch create update patch delete", "leases.coordination.k8s.io"),
  ...of("create get patch", "secrets"),
  "patch pods",
];

const rightsOf = (kind: string, props: JanusProps): readonly string[] =>
  rightsIn(rulesOf(ofJournal(props).filter((one) => one.kind === kind))).toSorted();

/** Those of a kind, without what distinguishes the controllers: names and labels. */
const alikeOf = (kind: string): readonly unknown[] =>
  installation({ gitJournal: {} })
    .filter((one) => one.kind === kind)
    .map(({ metadata, spec }) =>
      JSON.parse(
        JSON.stringify({ name: metadata.name, spec })
          .replaceAll("janus-git-journal", "janus-controller")
          .replaceAll('"git-journal"', '"controller"'),
      ),
    );

const podOf = (props: JanusProps) => {
  const { spec } = ofJournal(props).find(({ kind }) => kind === "Deployment") as unknown as {
    readonly spec: {
      readonly template: {
        readonly spec: { readonly containers: readonly { image: string; args: readonly string[] }[] };
      };
    };
  };
  return spec.template.spec.containers[0];
};

describe("the controller of the Git journal", () => {
  it.each<readonly [string, JanusProps, readonly string[]]>([
    ["of Secrets, too", { gitJournal: {} }, of("list watch", "secrets")],
    ["with protected metrics", { gitJournal: {}, metricsAuth: true }, of("list watch", "secrets")],
    ["without Secrets", { gitJournal: { secrets: false } }, []],
    [
      "of further resources",
      { gitJournal: { secrets: false, resources: [{ apiGroups: ["cert-manager.io"], resources: ["issuers"] }] } },
      of("get list watch", "issuers.cert-manager.io"),
    ],
  ])("may read what is journaled, and writes nothing of it: %s", (_, props, more) => {
    expect(rightsOf("ClusterRole", props)).toEqual([...everywhere, ...more].toSorted());
    expect(rightsOf("Role", props)).toEqual(home.toSorted());
  });

  it("has a budget, a priority level and two replicas, as the other controller", () => {
    for (const kind of ["PodDisruptionBudget", "PriorityLevelConfiguration"]) {
      const [one, other, ...more] = alikeOf(kind);
      expect([other, ...more]).toEqual([one]);
    }
    expect(ofJournal({ gitJournal: {} }).find(({ kind }) => kind === "Deployment")).toMatchObject({
      spec: { replicas: 2 },
    });
  });

  it("has none of them where the installation has none", () => {
    const kinds = kindsOf(
      ofJournal({
        gitJournal: { validateAuthors: false },
        podDisruptionBudget: { enabled: false },
        networkPolicy: false,
      }),
    );
    expect(kinds.filter((one) => /PodDisruptionBudget|NetworkPolicy|AdmissionPolicy/u.test(one))).toEqual([]);
  });

  it("leaves all others as they are", () => {
    const users = render((chart) => new GitJournalUserRoles(chart, "Roles"));
    const own = ofJournal({ gitJournal: {} });
    const added = kindsOf([...own, ...users, ...(gitJournalCrds as unknown as readonly Manifest[])]);
    const all = installation({ gitJournal: {} });
    expect(all.filter((one) => !added.includes(kindsOf([one])[0] ?? ""))).toEqual(installation());
  });

  it("is installed beside definitions that are there", () => {
    const kinds = kindsOf(installation({ gitJournal: { crds: false } }));
    expect(kinds).toContain("Deployment janus-system/janus-git-journal");
    expect(kinds.filter((one) => one.includes("configbutler"))).toEqual([]);
  });

  it("has an image with git, by the tag of the others", () => {
    expect(podOf({ image: "r.example:5000/janus:1", gitJournal: {} })?.image).toBe("r.example:5000/janus:1-git");
    expect(podOf({ image: "r.example:5000/janus", gitJournal: {} })?.image).toBe("r.example:5000/janus:latest-git");
    expect(podOf({ image: "r.example/janus@sha256:00", gitJournal: { image: "other" } })?.image).toBe("other");
  });

  it("is told which, where a digest says nothing of another image", () => {
    const image = "r.example/janus@sha256:00";
    expect(() => installation({ image, gitJournal: {} })).toThrow("gitJournal.image is required");
  });

  it("takes further flags, and none that other objects rely on", () => {
    expect(podOf({ gitJournal: { flags: ["--watch-all"] } })?.args).toContain("--watch-all");
    expect(() => installation({ gitJournal: { flags: ["--work-dir=/tmp"] } })).toThrow(
      "gitJournal.flags: --work-dir cannot be given here",
    );
  });

  it.each(["--git-batch-max-wait-sec=five", "--git-batch-max-wait-sec", "--git-batch-max-wait-sec=86401"])(
    "has no flag with which the controller would not start: %s",
    (flag) => {
      expect(() => installation({ gitJournal: { flags: [flag] } })).toThrow(
        "gitJournal.flags: --git-batch-max-wait-sec takes a number from 0 to 86400",
      );
    },
  );

  it("takes numbers within their bounds", () => {
    expect(podOf({ gitJournal: { flags: ["--git-batch-max-wait-sec=0"] } })?.args).toContain(
      "--git-batch-max-wait-sec=0",
    );
  });

  it("is not installed without replicas, or without a port of a git server", () => {
    expect(() => installation({ gitJournal: { replicas: 0 } })).toThrow("scale its Deployment to 0");
    expect(() => installation({ gitJournal: { gitPorts: [] } })).toThrow("gitJournal.gitPorts");
  });
});

const webhookConfiguration = () =>
  ofJournal({ gitJournal: {} }).find(({ kind }) => kind === "ValidatingWebhookConfiguration");

describe("the webhook of the Git journal", () => {
  it("fails no write of the cluster, and lets none wait for long", () => {
    expect(webhookConfiguration()).toMatchObject({
      webhooks: [
        {
          failurePolicy: "Ignore",
          sideEffects: "None",
          timeoutSeconds: 2,
          namespaceSelector: {
            matchExpressions: [{ operator: "NotIn", values: ["kube-system", "kube-public", "kube-node-lease"] }],
          },
        },
      ],
    });
  });

  it("leaves to the leader for which resources it is called, and whom it is trusted by: an upgrade takes nothing back", () => {
    const printed = JSON.stringify(webhookConfiguration());
    expect(printed).not.toContain('"rules"');
    expect(printed).not.toContain("caBundle");
    expect(printed).not.toContain('"path"');
  });

  it("is served by the leader alone", () => {
    expect(ofJournal({ gitJournal: {} }).find(({ kind }) => kind === "Service")).toMatchObject({
      spec: { selector: { "app.kubernetes.io/component": "git-journal", "janus.io/git-journal-leader": "true" } },
    });
  });
});

const apply = async (objects: readonly object[]) => {
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  // Another file of this run may have applied the definitions.
  const applied = await kubectlWith({ stdin }, "apply", "--server-side", "--force-conflicts", "-f", "-");
  expect(applied).toMatchObject({ code: 0 });
};

const WRITER = { apiGroups: ["configbutler.ai"], resources: ["watchrules"], verbs: ["*"] };

/** tests/deploy/git-journal-authors.test.ts has all that they refuse. */
it("who may not list Secrets makes no rule that selects them", async () => {
  const namespace = await freshNamespace();
  await apply(gitJournalCrds);
  await apply(render((chart) => new GitJournalPolicies(chart, "Policies")));
  await kubectl("wait", "--for=condition=Established", "--timeout=300s", "crd/watchrules.configbutler.ai");
  await apply(
    [
      role("writer", WRITER, { apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }),
      {
        ...roleBinding("writer", "Role", "writer", "default/default"),
        subjects: [{ kind: "User", name: "rule-writer" }],
      },
    ].map((object) => within(namespace, object)),
  );
  const kubeconfig = await userKubeconfig("rule-writer");
  const selecting = async (resource: string) => {
    const object = {
      apiVersion: "configbutler.ai/v1alpha1",
      kind: "WatchRule",
      metadata: { name: "one", namespace },
      spec: { destinationRef: { name: "prod" }, rules: [{ apiGroups: [""], resources: [resource] }] },
    };
    const created = await kubectlWith(
      { kubeconfig, stdin: JSON.stringify(object) },
      "create",
      "--dry-run=server",
      "-f",
      "-",
    );
    return created.stderr;
  };
  await expect.poll(() => selecting("secrets")).toContain('user "rule-writer" cannot list secrets');
  expect(await selecting("configmaps")).toBe("");
});
