import { readFileSync } from "node:fs";
import path from "node:path";
import type { KubeObject } from "@janus/kube";
import { beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { patching } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { podsOf, report } from "../fixtures/pods.ts";
import { running } from "../fixtures/pod-status.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";
import { ARGO_CD_BUILD, askArgoCd, buildArgoCd, hasArgoCd } from "./argo-cd/argo-cd.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(repository, file), "utf8");
const { data: config } = parse(read("deploy/argocd/argocd-cm.yaml")) as { readonly data: object };

interface Synced {
  readonly name: string;
  readonly kind: string;
  /** Of a hook. */
  readonly phase: string;
  readonly message: string;
}

/** What Argo CD syncs of an Application; the ConfigMap is not known to it before. */
const sync = async (place: Workspace, objects: readonly object[], revision: string, data: object = config) => {
  const [synced] = await askArgoCd<readonly Synced[]>("sync", [
    {
      config: data,
      kubeconfig: readFileSync(controlPlane.kubeconfig, "utf8"),
      namespace: place.namespace,
      revision,
      objects: [
        { ...configMap("synced", { revision }), metadata: { name: "synced", namespace: place.namespace } },
        ...objects,
      ],
    },
  ]);
  return synced?.find(({ kind }) => kind === "Transaction");
};

/** The hook of the example, in this workspace. */
const hookIn = ({ namespace }: Workspace, more: Readonly<Record<string, string>> = {}): KubeObject => {
  const [hook] = parseAllDocuments(
    read("examples/argo-cd-hook/transaction.yaml").replaceAll("namespace: argo-cd-hook", `namespace: ${namespace}`),
  ).map((document) => document.toJS() as KubeObject & { readonly metadata: { readonly annotations: object } });
  if (hook === undefined) throw new Error("the example has no Transaction");
  const { annotations } = hook.metadata;
  return { ...hook, metadata: { ...hook.metadata, annotations: { ...annotations, ...more } } };
};

const prepared = async (): Promise<Workspace> => {
  const place = await workspace();
  await place.create(configMap("app-config", { version: "1.28" }), deployment("web", "nginx:1.28"));
  for (const pod of await podsOf(place.namespace, "web", "nginx:1.28")) await report(pod, running);
  return place;
};
const rollsOut = async ({ namespace }: Workspace): Promise<void> => {
  for (const pod of await podsOf(namespace, "web", "nginx:1.29")) await report(pod, running);
};
const transactionsIn = ({ names }: Workspace) => names("backup.janus.io/v1alpha1", "Transaction");
const imageOf = async ({ read }: Workspace) => JSON.stringify((await read(deployment("web", "")))["spec"]);

describe.skipIf(!(await hasArgoCd()))("a sync of Argo CD, by its own engine", () => {
  beforeAll(buildArgoCd, ARGO_CD_BUILD);

  it("creates the hook under a name of its own, waits for it, and deletes it when it is Committed", async () => {
    const place = await prepared();
    await place.janus();
    const [hook] = await Promise.all([sync(place, [hookIn(place)], "0123456789"), rollsOut(place)]);
    expect(hook).toMatchObject({ phase: "Succeeded", name: expect.stringMatching(/^release-0123456-sync-\d+$/) });
    expect(await imageOf(place)).toContain("nginx:1.29");
    await expect.poll(() => transactionsIn(place)).toEqual([]);
  });

  it("creates another one in the next sync", async () => {
    const place = await prepared();
    await place.janus();
    await Promise.all([sync(place, [hookIn(place)], "0123456789"), rollsOut(place)]);
    expect(await sync(place, [hookIn(place)], "9876543210")).toMatchObject({
      phase: "Succeeded",
      name: expect.stringMatching(/^release-9876543-sync-\d+$/),
    });
  });

  it("fails if the Transaction does, shows why, and keeps it", async () => {
    const place = await prepared();
    await place.remove(configMap("app-config"));
    await place.janus();
    const hook = await sync(place, [hookIn(place)], "0123456789");
    expect(hook).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("no changes were applied: changes[0]: ConfigMap"),
    });
    expect(await transactionsIn(place)).toEqual([hook?.name]);
  });

  it("does not wait for the Transaction without the health check", async () => {
    const place = await prepared();
    // No controller runs: it stays in Pending.
    expect(await sync(place, [hookIn(place)], "0123456789", {})).toMatchObject({ phase: "Succeeded" });
  });
});

/** An object as the Application has it, and as it is after a Transaction has set some of its fields. */
const afterTransaction = async (
  manifest: Manifest,
  change: Manifest,
): Promise<{ readonly target: object; readonly live: KubeObject }> => {
  const place = await workspace();
  const target = { ...manifest, metadata: { ...manifest.metadata, namespace: place.namespace } };
  await administrator.create(target);
  await place.janus();
  await place.run([patching(change)]);
  return { target, live: await place.read(target) };
};

const inGit = configMap("config", { color: "blue", size: "10" });
const ofTheTransaction = configMap("config", { color: "green" });
const ofConfigMaps = (ignored: object) => [{ group: "", kind: "ConfigMap", ...ignored }];

/** Whether Argo CD calls them out of sync, if the Application has these `ignoreDifferences`. */
const differs = async (objects: object, ignore: readonly object[] = []): Promise<boolean | undefined> =>
  (await askArgoCd<boolean>("differs", [{ config, ignore, ...objects }]))[0];

describe.skipIf(!(await hasArgoCd()))("Argo CD, where an Application has what a Transaction changes", () => {
  beforeAll(buildArgoCd, ARGO_CD_BUILD);

  it("is out of sync, so that self-heal would revert the Transaction", async () => {
    expect(await differs(await afterTransaction(inGit, ofTheTransaction))).toBe(true);
  });

  it("is in sync where the Application ignores the fields that Transactions set, and no others", async () => {
    const objects = await afterTransaction(inGit, ofTheTransaction);
    expect(await differs(objects, ofConfigMaps({ jsonPointers: ["/data/color"] }))).toBe(false);
    expect(await differs(objects, ofConfigMaps({ jsonPointers: ["/data/size"] }))).toBe(true);
  });

  it("is in sync with what docs/argo-cd.md says to ignore", async () => {
    const [, block = ""] = /^```yaml\n(spec:\n {2}ignoreDifferences:.*?)^```$/msu.exec(read("docs/argo-cd.md")) ?? [];
    const { spec } = parse(block) as { readonly spec: { readonly ignoreDifferences: readonly object[] } };
    const objects = await afterTransaction(deployment("web", "nginx:1.28"), deployment("web", "nginx:1.29"));
    expect(await differs(objects)).toBe(true);
    expect(await differs(objects, spec.ignoreDifferences)).toBe(false);
  });

  it("is in sync where it ignores the field manager of that Transaction, but each Transaction has its own", async () => {
    const objects = await afterTransaction(inGit, ofTheTransaction);
    const managers = (objects.live.metadata.managedFields ?? []).flatMap(({ manager }) => manager ?? []);
    const own = managers.find((manager) => manager.startsWith("janus-"));
    expect(await differs(objects, ofConfigMaps({ managedFieldsManagers: [own] }))).toBe(false);
    expect(await differs(objects, ofConfigMaps({ managedFieldsManagers: ["janus"] }))).toBe(true);
  });
});
