// Tests the kinds of the Git journal on the API server: it accepts and refuses what their codecs do, with the same messages.
import { type Api, connect, loadConfig } from "@janus/kube";
import { asObject, type Resource } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  clusterWatchRules,
  gitDestinations,
  gitJournalCrds,
  gitRepoConfigs,
  watchRules,
} from "../../packages/git-journal/src/index.ts";
import { isMadeByApiServer } from "../../packages/git-journal/src/core/made-by-api-server.ts";
import { groupsOf } from "../../packages/git-journal/src/core/discovery.ts";
import { controlPlane, kubectl, kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { ACCEPTED, REFUSED } from "./git-journal-specs.ts";

const RESOURCES = {
  GitRepoConfig: gitRepoConfigs,
  GitDestination: gitDestinations,
  WatchRule: watchRules,
  ClusterWatchRule: clusterWatchRules,
};

const config = loadConfig({}, controlPlane.kubeconfig);
if (E.isLeft(config)) throw new Error(config.left);
const api = connect(config.right, { writeTimeout: 10_000, deadline: 20_000 });
afterAll(() => api.close());

const isServed = async ({ group, version, plural }: Resource): Promise<boolean> =>
  (await kubectl("get", "--raw", `/apis/${group}/${version}/${plural}`)).code === 0;

it.each([
  ["clusterroles", "ClusterRole", "system:node"],
  ["clusterroles", "ClusterRole", "view"],
  ["clusterrolebindings", "ClusterRoleBinding", "cluster-admin"],
])("kube-apiserver makes of the %s by itself the %s %s", async (plural, kind, name) => {
  const group = "rbac.authorization.k8s.io";
  const resource = { group, version: "v1", plural, kind, namespaced: false, statusSubresource: false };
  const answer = await api.send({ verb: "get", resource, name });
  expect(E.isRight(answer) && isMadeByApiServer(answer.right), JSON.stringify(answer)).toBe(true);
});

describe("the kinds of the Git journal", () => {
  let namespace = "";
  let applied: Outcome | undefined;
  beforeAll(async () => {
    applied = await kubectlWith(
      { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items: gitJournalCrds }) },
      "apply",
      "--server-side",
      "--force-conflicts",
      "--validate=strict",
      "--warnings-as-errors",
      "-f",
      "-",
    );
    namespace = await freshNamespace();
    for (const resource of Object.values(RESOURCES)) await vi.waitUntil(() => isServed(resource), 300_000);
  });

  it("are defined without a warning", () => {
    expect(applied).toMatchObject({ code: 0, stderr: "" });
  });

  const create = (kind: keyof typeof RESOURCES, spec: unknown, more: object = {}): ReturnType<Api["send"]> => {
    const resource = RESOURCES[kind];
    const metadata = resource.namespaced ? { name: "a", namespace } : { name: `a-${namespace}` };
    return api.send({
      verb: "create",
      resource,
      ...(resource.namespaced ? { namespace } : {}),
      body: { apiVersion: `${resource.group}/${resource.version}`, kind, metadata, spec },
      ...more,
    });
  };

  it.each(ACCEPTED)("%s is accepted, without a field that is not known", async (_, kind, spec) => {
    const answer = await create(kind, spec, { dryRun: true, fieldValidation: "Strict" });
    expect(answer).toMatchObject({ right: { spec } });
  });

  it.each(REFUSED)("%s is refused", async (_, kind, spec, message) => {
    const answer = await create(kind, spec, { dryRun: true });
    expect(answer).toMatchObject({ left: { type: "refused", code: 422 } });
    const said = E.isLeft(answer) ? answer.left.message : "";
    const isOfSchema = message.startsWith("must have") || message === "is missing";
    expect(isOfSchema ? /at least 1 items|Required value/u.test(said) : said.includes(message)).toBe(true);
  });

  it("defaults are upstream's", async () => {
    const push = await create("GitRepoConfig", {
      repoUrl: "https://g/r",
      branch: "main",
      push: {},
      accessPolicy: { namespacedRules: {} },
    });
    expect(push).toMatchObject({
      right: {
        spec: {
          push: { maxCommits: 20 },
          accessPolicy: { allowClusterRules: false, namespacedRules: { mode: "SameNamespace" } },
        },
      },
    });
  });

  it("the aggregated discovery has them", async () => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const [core, others] = await Promise.all(["/api", "/apis"].map((path) => api.send({ verb: "raw", path, accept })));
    const groups = groupsOf([core, others].flatMap((one) => (one && E.isRight(one) ? [asObject(one.right)] : [])));
    const plurals = (group: string): readonly string[] => {
      const served = groups.get(group);
      return served === undefined || served === "failed" ? [] : served.map(({ plural }) => plural).toSorted();
    };
    expect(plurals("configbutler.ai")).toEqual([
      "clusterwatchrules",
      "gitdestinations",
      "gitrepoconfigs",
      "watchrules",
    ]);
    expect(plurals("")).toEqual(expect.arrayContaining(["configmaps", "namespaces", "secrets"]));
    expect(plurals("")).not.toContain("bindings");
    expect(groups.get("autoscaling")).toMatchObject([{ plural: "horizontalpodautoscalers", versions: ["v2", "v1"] }]);
  });

  it("kubectl get gitjournal lists them, with their columns", async () => {
    await create("GitDestination", { repoRef: { name: "repo" }, branch: "main", baseFolder: "clusters/prod" });
    const { stdout } = await kubectl("get", "gitdestinations", "-n", namespace);
    expect(stdout.split("\n")[0]?.split(/\s+/u).join(" ")).toBe("NAME REPO BRANCH BASEFOLDER READY REASON PUSHED AGE");
    await vi.waitFor(async () => {
      expect((await kubectl("get", "gitjournal", "-n", namespace)).stdout).toContain(
        "gitdestination.configbutler.ai/a",
      );
    }, 300_000);
  });
});
