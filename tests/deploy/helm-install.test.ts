import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Outcome } from "../fixtures/cluster.ts";
import { chart, helmFile, helmHome, helmWith } from "../fixtures/helm.ts";
import { runNodes } from "./nodes.ts";
import { type BareCluster, bareCluster, eventually } from "./own-cluster.ts";
import { commandsOf } from "./page-commands.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** Some minutes of several processes, on a machine that may be busy. */

let cluster: BareCluster;
beforeEach(async () => {
  cluster = await bareCluster();
  return cluster.stop;
});

/** Runs commands as a person types them, in the directory of the repository. */
const shell = (script: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const env = {
      PATH: [path.dirname(cluster.binaries.kubectl), path.dirname(helmFile), process.env["PATH"]].join(path.delimiter),
      HOME: cluster.directory,
      KUBECONFIG: cluster.kubeconfig,
      ...helmHome,
    };
    const run = ["--norc", "-euo", "pipefail", "-c", script];
    execFile("bash", run, { cwd: repository, env, maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: error === null ? 0 : typeof error.code === "number" ? error.code : 1 }),
    );
  });

/** What it printed. A failure tells what was done, and why it did not work. */
const done = async (what: string, outcome: Promise<Outcome>): Promise<string> => {
  const { code, stdout, stderr } = await outcome;
  expect(code, `${what}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
};

/** What the page says, word for word; all of it has to work. */
const follow = async (page: string, heading: string): Promise<readonly string[]> => {
  const said: string[] = [];
  for (const command of commandsOf(page, heading)) {
    said.push(await done(command, shell(command)));
  }
  return said;
};

/** It has to work. */
const helm = (...args: readonly string[]): Promise<string> =>
  done(`helm ${args.join(" ")}`, helmWith({ kubeconfig: cluster.kubeconfig }, ...args, "-n", "janus-system"));

const deployment = async (): Promise<string> =>
  cluster.admin(
    "get deployment janus-controller -n janus-system -o jsonpath={.spec.replicas}/{.status.readyReplicas}/{.status.updatedReplicas}",
  );

const imageOf = (): Promise<string> =>
  cluster.admin(
    "get deployment janus-controller -n janus-system -o jsonpath={.spec.template.spec.containers[0].image}",
  );

/** What has no default. */
const withImage = "--set=image.repository=registry.example.com/janus";

/** To be changed; it goes with the test. */
const copyOfChart = async (): Promise<string> => {
  const copy = await mkdtemp(path.join(os.tmpdir(), "janus-chart-"));
  onTestFinished(() => rm(copy, { recursive: true }));
  await cp(chart, copy, { recursive: true });
  return copy;
};

const configMap = (name: string, finalizers: readonly string[] = []) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", finalizers },
  data: { before: "yes" },
});

const transaction = (name: string, ...changes: readonly object[]) => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name, namespace: "shop" },
  spec: { serviceAccountName: "deployer", changes },
});
const target = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name });
const patching = (name: string) => ({ type: "Patch", target: target(name), content: { data: { after: "yes" } } });
const deleting = (name: string) => ({ type: "Delete", target: target(name) });

/** A namespace with a Transaction that has changed `map`, and waits in the middle for whoever holds `held`. */
const halfWay = async (): Promise<void> => {
  await cluster.admin("create namespace shop");
  await cluster.admin("create serviceaccount deployer -n shop");
  await cluster.admin("create rolebinding deployer -n shop --clusterrole=admin --serviceaccount=shop:deployer");
  await cluster.admin("create -f -", configMap("map"));
  await cluster.admin("create -f -", configMap("held", ["example.com/hold"]));
  await cluster.admin("create -f -", transaction("half-way", patching("map"), deleting("held")));
  await cluster.admin("wait --for=jsonpath={.metadata.deletionTimestamp} --timeout=300s -n shop configmap/held");
};
const removeFinalizers = (): Promise<string> =>
  cluster.admin('patch configmap held -n shop --type=json -p=[{"op":"remove","path":"/metadata/finalizers"}]');
const dataOf = (name: string): Promise<string> => cluster.admin(`get configmap ${name} -n shop -o jsonpath={.data}`);
const phase = (): Promise<string> => cluster.admin("get txn half-way -n shop -o jsonpath={.status.phase}");
/** What was deleted and is still there. */
const hanging = async (): Promise<readonly string[]> => {
  const left = await cluster.admin("get namespace/shop crd/transactions.backup.janus.io --ignore-not-found -o name");
  return left.split("\n").filter((name) => name !== "");
};

/** Whether a write of a term that is over would be refused. */
const isFenceUp = async (): Promise<boolean> => {
  // Not as the controller: the policy janus-controller-limits would refuse that, too, and only one of them is told.
  const as = "--as=anyone --as-group=system:masters --as-user-extra=janus.io/fence=nobody/0";
  const { stderr } = await cluster.kubectl("admin", `create configmap any --dry-run=server ${as}`);
  return stderr.includes("whose term is over");
};

/** What could still hold anything up, or do anything. */
const leftOvers = async (): Promise<readonly string[]> => {
  const kinds =
    "clusterrole,clusterrolebinding,flowschema,prioritylevelconfiguration,validatingadmissionpolicy,validatingadmissionpolicybinding,crd,namespace";
  return (await cluster.admin(`get ${kinds} -o name`)).split("\n").filter((name) => name.includes("janus"));
};

describe("Janus, installed with Helm,", () => {
  it("works, is upgraded under a Transaction, and is gone as the pages say", async () => {
    await runNodes(cluster);
    await follow("docs/install.md", "With Helm");
    await expect.poll(deployment).toBe("2/2/2");
    await eventually(isFenceUp);
    await follow("docs/install.md", "Verify the installation");

    await halfWay();
    await follow("docs/upgrade.md", "With Helm");
    const set = "--set=replicaCount=3,logLevel=debug";
    await helm("upgrade", "janus", chart, "--reset-then-reuse-values", "--wait", "--timeout=2m", set);
    await expect.poll(deployment).toBe("3/3/3");
    expect(await phase()).toBe("Committing");

    await follow("docs/uninstall.md", "1. Reject new Transactions");
    await eventually(async () =>
      (await cluster.kubectl("admin", "create -f -", transaction("late", patching("map")))).stderr.includes(
        "no new Transactions for now",
      ),
    );
    const waiting = follow("docs/uninstall.md", "2. Let active Transactions finish");
    await cluster.admin("wait --for=jsonpath={.metadata.annotations} --timeout=300s -n shop txn/half-way");
    await removeFinalizers();
    expect((await waiting)[0]).toContain("shop/half-way Committing");
    // It was asked to roll back when its last change was under way: what was deleted is there again.
    expect(await phase()).toBe("RolledBack");
    expect([await dataOf("map"), await dataOf("held")]).toEqual(['{"before":"yes"}', '{"before":"yes"}']);

    const [uninstall = ""] = commandsOf("docs/uninstall.md", "3. Remove the installation");
    await done(uninstall, shell(uninstall));
    expect(await phase()).toBe("RolledBack");
    await cluster.admin("get validatingadmissionpolicy,validatingadmissionpolicybinding janus-fence");

    await follow("docs/uninstall.md", "4. Remaining objects");
    expect(await leftOvers()).toEqual([]);
    await removeFinalizers(); // What was deleted came back with the finalizer that it had.
    await cluster.admin("delete namespace shop --timeout=300s");
  });

  it("has the image of the new version after an upgrade, and the old one after a rollback", async () => {
    await runNodes(cluster);
    await follow("docs/install.md", "With Helm");
    expect(await imageOf()).toBe("registry.example.com/janus:0.1.0");
    const newer = await copyOfChart();
    const file = path.join(newer, "Chart.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replaceAll("ersion: 0.1.0", "ersion: 0.1.1"));
    const [upgrade = ""] = commandsOf("docs/upgrade.md", "With Helm");
    const toNewer = upgrade.replace("charts/janus", newer);
    await done(toNewer, shell(toNewer));
    expect(await imageOf()).toBe("registry.example.com/janus:0.1.1");
    await helm("rollback", "janus");
    expect(await imageOf()).toBe("registry.example.com/janus:0.1.0");
  });

  it("has an upgrade, and a rollback, that are ones of the CustomResourceDefinition, too", async () => {
    await runNodes(cluster);
    await follow("docs/install.md", "With Helm");
    const copy = await copyOfChart();
    const file = path.join(copy, "files/crd-spec.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace("- txn\n", "- txn\n      - txns\n"));
    const shortNames = () => cluster.admin("get crd transactions.backup.janus.io -o jsonpath={.spec.names.shortNames}");

    await helm("upgrade", "janus", copy, "--reuse-values", "--wait");
    expect(await shortNames()).toBe('["txn","txns"]');
    await helm("rollback", "janus", "--wait");
    expect(await shortNames()).toBe('["txn"]');
  });

  it("is there once: a second release is refused", async () => {
    await helm("install", "janus", chart, withImage, "--create-namespace");
    const second = ["install", "other", chart, withImage, "-n", "elsewhere", "--create-namespace"];
    expect(await helmWith({ kubeconfig: cluster.kubeconfig }, ...second)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('must equal "other": current value is "janus"'),
    });
  });

  it("moves to another namespace as the page says, and its fence is up", async () => {
    await runNodes(cluster);
    await done("helm install", shell(`helm install janus charts/janus -n platform --create-namespace ${withImage}`));
    // The other way round than on the page: the nodes run what is in janus-system.
    const other: Readonly<Record<string, string>> = { platform: "janus-system", "janus-system": "platform" };
    for (const command of commandsOf("docs/upgrade.md", "Another namespace or release name")) {
      const back = command.replaceAll(/platform|janus-system/g, (namespace) => other[namespace] ?? "");
      await done(back, shell(back));
    }
    await expect.poll(deployment).toBe("2/2/2");
    await eventually(isFenceUp);
    await follow("docs/install.md", "Verify the installation");
  });

  it("comes back to what it has left, and its fence is up", async () => {
    await runNodes(cluster);
    await follow("charts/janus/README.md", "Install");
    await eventually(isFenceUp);
    await follow("charts/janus/README.md", "Upgrade");
    await follow("charts/janus/README.md", "Uninstall");
    await helm("install", "janus", chart, withImage, "--wait", "--timeout=2m");
    expect(await isFenceUp()).toBe(true);
  });

  it("works under other names, as another ServiceAccount, and with a CRD that others install", async () => {
    await runNodes(cluster);
    const crd = "npm run -s crd -- backup.janus.io | kubectl apply --server-side -f -";
    expect(await readFile(path.join(repository, "docs/install.md"), "utf8")).toContain(crd.replace("|", "\\|"));
    await done(crd, shell(crd));
    await cluster.admin("create namespace janus-system");
    await cluster.admin("create serviceaccount mine -n janus-system");
    const names = "fullnameOverride=atomic,serviceAccount.name=mine,serviceAccount.create=false,crds.enabled=false";
    const limited = "actsAs[0].namespace=example,controller.leaderElection.leaseName=atomic-leader";
    await cluster.admin("create namespace example");
    await helm("install", "janus", chart, withImage, `--set=${names},${limited}`, "--wait", "--timeout=2m");
    await eventually(isFenceUp);
    const [look = "", ...others] = commandsOf("docs/install.md", "Verify the installation");
    for (const command of [look.replace("janus-controller-leader", "atomic-leader"), ...others])
      await done(command, shell(command));
    const leader =
      "get endpointslices -n janus-system -l kubernetes.io/service-name=atomic -o jsonpath={..targetRef.name}";
    await eventually(async () => /^atomic-\S+$/u.test(await cluster.admin(leader)));
    await helm("uninstall", "janus", "--wait");
    await cluster.admin("get crd transactions.backup.janus.io");
  });
});

describe("Janus, installed with kubectl,", () => {
  it("is taken over by Helm without a new Pod, and upgraded by it from then on", async () => {
    await runNodes(cluster);
    await follow("docs/install.md", "With kubectl");
    await follow("docs/upgrade.md", "With kubectl or cdk8s");
    const pods = () => cluster.admin("get pods -n janus-system -o name");
    const before = await pods();
    await follow("docs/upgrade.md", "From kubectl to Helm");
    expect(await pods()).toBe(before);
    const upgrade = ["upgrade", "janus", chart, "--reset-then-reuse-values", "--wait", "--timeout=2m"];
    await helm(...upgrade, "--set=image.tag=0.1.1");
    expect(await imageOf()).toBe("registry.example.com/janus:0.1.1");
    await expect.poll(deployment).toBe("2/2/2");
    await helm("uninstall", "janus", "--wait");
    await follow("docs/uninstall.md", "4. Remaining objects");
    expect(await leftOvers()).toEqual([]);
  });

  it("is gone as the page says", async () => {
    await runNodes(cluster);
    await follow("docs/install.md", "With kubectl");
    const [, ...withKubectl] = commandsOf("docs/uninstall.md", "3. Remove the installation");
    for (const command of withKubectl) await done(command, shell(command));
    await follow("docs/uninstall.md", "4. Remaining objects");
    expect(await leftOvers()).toEqual([]);
  });
});

describe("Janus, installed with cdk8s,", () => {
  it("is what the page's file says", async () => {
    await runNodes(cluster);
    await cluster.admin("create namespace shop");
    const mine = `my-janus-${process.pid}`;
    onTestFinished(async () => {
      for (const ending of ["ts", "yaml"]) await rm(path.join(repository, `${mine}.${ending}`), { force: true });
    });
    const [, program = ""] =
      /```ts\n(.*?)```/s.exec(await readFile(path.join(repository, "docs/install.md"), "utf8")) ?? [];
    await writeFile(path.join(repository, `${mine}.ts`), program);
    for (const command of commandsOf("docs/install.md", "With cdk8s")) {
      const mineToo = command.replaceAll("my-janus", mine);
      await done(mineToo, shell(mineToo));
    }
    await cluster.admin("get role janus-controller-impersonation -n shop");
    await expect.poll(deployment).toBe("2/2/2");
  });
});

/** The wrong order: what is under way is deleted, and nobody is there who could let go of it. */
const uninstalledTooEarly = async (): Promise<void> => {
  await runNodes(cluster);
  await follow("docs/install.md", "With Helm");
  await halfWay();
  await helm("uninstall", "janus", "--wait");
  await removeFinalizers();
  await cluster.admin("delete namespace shop --wait=false");
  await cluster.admin("delete crd transactions.backup.janus.io --wait=false");
  const condition = '{.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].status}';
  await eventually(async () => (await cluster.admin(`get namespace shop -o jsonpath=${condition}`)) === "True");
};

describe("when the controller went before the Transactions", () => {
  it("an installation that is installed again releases what hangs", async () => {
    await uninstalledTooEarly();
    await follow("docs/uninstall.md", "Install it again");
    // The leader of before could not give its Lease back: its rights went with it.
    await expect.poll(hanging).toEqual([]);
    await helm("upgrade", "janus", chart, "--reuse-values", "--wait", "--timeout=2m");
    await follow("docs/install.md", "Verify the installation");
  });

  it("and so does a person, by hand", async () => {
    await uninstalledTooEarly();
    const [seen] = await follow("docs/uninstall.md", "Remove the finalizers by hand");
    expect(seen).toContain("half-way-rollback");
    await expect.poll(hanging).toEqual([]);
  });
});
