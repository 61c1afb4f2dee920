// Runs the commands of the pages about Blueprints: the tour from the installation to a restore; from Kanister to Janus, and back.
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { commandsOf } from "../deploy/page-commands.ts";
import { type BareCluster, bareCluster } from "../deploy/own-cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { shellOf } from "../fixtures/shell.ts";

const program = path.resolve(import.meta.dirname, "../../packages/blueprints/src/shell/main.ts");
const STARTS = /npm run -s controller -- (--blueprints )?/u;

const newCluster = async (): Promise<BareCluster> => {
  const cluster = await bareCluster();
  onTestFinished(cluster.stop);
  return cluster;
};

/** Runs what stands below a heading of a page; a controller is started beside it, and returned. */
const follower = (cluster: BareCluster, page: string) => {
  const shell = shellOf(cluster);
  return async (heading: string, edit = (line: string) => line) => {
    let printed = "";
    let controller: ReturnType<typeof controllerProcess> | undefined;
    const run = async (script: string): Promise<void> => {
      const { code, stdout, stderr } = await shell(script);
      expect(code, `${script}\n${stdout}\n${stderr}`).toBe(0);
      printed += stdout;
    };
    for (const block of commandsOf(page, heading)) {
      const [before = "", isOfBlueprints, after] = edit(block).split(STARTS);
      await run(before);
      if (after === undefined) continue;
      const [flags = "", ...rest] = after.split("\n");
      const own = [`--kubeconfig=${cluster.kubeconfig}`, ...flags.split(" ")];
      controller = controllerProcess(own, {}, isOfBlueprints === undefined ? undefined : program);
      await run(rest.join("\n"));
    }
    return { printed, controller };
  };
};

it("docs/blueprints.md is a tour from the installation to a restore", async () => {
  const follow = follower(await newCluster(), "docs/blueprints.md");
  await follow("Install it");
  await follow("An application, and who may act on it");
  await follow("A recipe");
  const backup = await follow("A backup");
  expect(backup.printed).toContain(
    String.raw`{"copy":{"keyValue":{"data":"{\"currency\":\"EUR\",\"delivery\":\"yes\"}"}}}`,
  );
  expect(backup.printed).toMatch(/Ended Phase +actionset\/backup-1 +Completed phase note$/mu);
  const restore = await follow("A restore");
  expect(restore.printed).toMatch(/^EUR$/mu);
  const wrong = await follow("When something is wrong");
  expect(wrong.printed).toContain("nothing was run: ");
  expect(wrong.printed).toContain('artifact "copy" is required by action restore and not given');
  expect(wrong.printed).toContain("ConfigMap shop/setings not found");
});

it("docs/blueprints.md shows an atomic action that is rolled back", async () => {
  const follow = follower(await newCluster(), "docs/blueprints.md");
  await follow("Install it");
  const { printed } = await follow("Atomic actions");
  expect(printed).toMatch(/^phase check: .*; rolled back: setCurrency$/mu);
  expect(printed).toMatch(/^EUR$/mu);
});

/** A phase that waits until the ConfigMap says so, with a note of what it did. */
const RECIPE = {
  apiVersion: "cr.kanister.io/v1alpha1",
  kind: "Blueprint",
  metadata: { name: "pg", namespace: "kanister" },
  actions: {
    backup: {
      phases: [
        {
          func: "Wait",
          name: "wait",
          args: {
            timeout: "10m",
            conditions: {
              allOf: [
                {
                  condition: '{{ if eq "{$.data.go}" "yes" }}true{{ end }}',
                  objectReference: { apiVersion: "v1", resource: "configmaps", name: "go", namespace: "kanister" },
                },
              ],
            },
          },
        },
      ],
    },
  },
};

const actionSet = (name: string, status?: object) => ({
  apiVersion: "cr.kanister.io/v1alpha1",
  kind: "ActionSet",
  metadata: { name, namespace: "kanister" },
  spec: {
    actions: [
      {
        name: "backup",
        blueprint: "pg",
        object: { apiVersion: "", group: "", kind: "deployment", name: "pg", namespace: "shop", resource: "" },
        preferredVersion: "",
      },
    ],
  },
  ...(status === undefined ? {} : { status }),
});

describe("docs/from-kanister.md", () => {
  it("goes from Kanister to Janus and back, with what Kanister has left", async () => {
    const cluster = await newCluster();
    const follow = follower(cluster, "docs/from-kanister.md");
    const { admin } = cluster;
    const operator = "kanister-kanister-operator";
    const stateOf = async (name: string): Promise<string> =>
      admin(`get actionset -n kanister ${name} -o jsonpath={.status.state}`);
    for (const namespace of ["kanister", "shop"]) await admin(`create namespace ${namespace}`);
    // What the chart of Kanister installs, as far as it is of use here.
    await shellOf(cluster)("npm run -s crd -- cr.kanister.io | kubectl create -f -");
    await admin("wait --for=condition=Established --timeout=300s crd/actionsets.cr.kanister.io");
    await admin(`create deployment -n kanister ${operator} --image=kanister`);
    await admin(`create serviceaccount -n kanister ${operator}`);
    await admin(`create clusterrolebinding kanister --clusterrole=admin --serviceaccount=kanister:${operator}`);
    await admin("create deployment -n shop pg --image=postgres --replicas=0");
    await admin("create configmap -n kanister go --from-literal=go=yes");
    await admin("create -f -", RECIPE);
    await admin("create -f -", actionSet("pending"));
    await admin("create -f -", actionSet("left", { state: "running", actions: [] }));

    // This one is not on this machine: what it writes is tests/blueprints/kanctl.test.ts.
    const { controller } = await follow("Five commands", (block) => block.replace(/^kanctl .*$/mu, ""));
    expect(await admin(`get deployment -n kanister ${operator} -o jsonpath={.spec.replicas}`)).toBe("0");
    await expect.poll(() => stateOf("pending")).toBe("complete");
    expect(await stateOf("left")).toBe("running");
    expect(await admin("get secrets -n kanister")).toBe("");

    // It is stopped while one is running.
    await admin("delete configmap -n kanister go");
    await admin("create -f -", actionSet("late"));
    const running = async () => admin("get actionset -n kanister late -o jsonpath={.status.progress.runningPhase}");
    await expect.poll(running).toBe("wait");
    controller?.kill("SIGTERM");
    await controller?.ended;
    expect(await admin("get secrets -n kanister -o name")).toContain("secret/janus-actionset-");
    const { printed } = await follow("Back again");
    expect(printed).toContain("kanister/late\n");
    expect(await admin(`get deployment -n kanister ${operator} -o jsonpath={.spec.replicas}`)).toBe("1");
    expect(await admin("get secrets -n kanister -o name")).toBe("");
    expect(await admin("get actionsets -n kanister -o jsonpath={.items[*].metadata.finalizers}")).toBe("");
    await admin("delete actionsets -n kanister --all --timeout=300s");
  });
});
