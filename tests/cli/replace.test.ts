import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { janusWith } from "./command-line.ts";

const job = (image: string): Manifest => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "migrate" },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "m", image }] } } },
});

const stream = (...manifests: readonly object[]): string => manifests.map((one) => JSON.stringify(one)).join("\n---\n");

it("proposes to replace what cannot be edited, and with --replace does that, and only for that", async () => {
  const place = await workspace();
  const { namespace } = place;
  await place.create(job("works:1"), configMap("app", { version: "1" }));
  const former = await place.read(job("works:1"));
  const app = await place.read(configMap("app"));
  const manifests = stream(job("works:2"), configMap("app", { version: "2" }));
  const on = ["-f", "-", "-n", namespace, "--service-account", "deployer"];

  const plan = await janusWith(manifests, "plan", ...on);
  expect(plan.code).toBe(2);
  expect(plan.stdout.replaceAll(/\s+/gu, " ")).toContain(
    "field is immutable; use type Replace (kubectl janus apply --replace)",
  );
  expect(plan.stdout).not.toContain("PodTemplateSpec");

  const replacing = await janusWith(manifests, "plan", "--replace", ...on);
  expect(replacing.code).toBe(1);
  expect(replacing.stdout).toContain(
    [` 1  change     ConfigMap ${namespace}/app`, ` 2  replace    Job ${namespace}/migrate`].join("\n"),
  );
  expect(replacing.stdout).toContain("works:2");

  await place.janus();
  const applied = await janusWith(manifests, "apply", "--replace", "-o", "name", ...on);
  expect(applied.code).toBe(0);
  expect(JSON.stringify(await place.read(job("works:1")))).toContain('"image":"works:2"');
  expect((await place.read(job("works:1"))).metadata.uid).not.toBe(former.metadata.uid);
  expect((await place.read(configMap("app"))).metadata.uid).toBe(app.metadata.uid);
});

const claim = (storageClassName: string): Manifest => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage: "1Gi" } } },
});

const pod = (arg: string): Manifest => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "one" },
  spec: { containers: [{ name: "app", image: "app:1", args: [arg] }] },
});

it("says first why an object cannot be edited, and then what to do, also where it is not replaced", async () => {
  const place = await workspace();
  await place.create(claim("slow"), pod("a"));
  const on = ["-f", "-", "-n", place.namespace, "--service-account", "deployer"];
  const planned = async (manifest: Manifest, ...flags: readonly string[]): Promise<string> => {
    const { code, stdout } = await janusWith(stream(manifest), "plan", ...flags, ...on);
    expect(code).toBe(2);
    expect(stdout).not.toContain("@@");
    return stdout.replaceAll(/\s+/gu, " ");
  };
  for (const flags of [[], ["--replace"]])
    expect(await planned(claim("fast"), ...flags)).toMatch(
      /spec is immutable after creation except [\w. ]+; a PersistentVolumeClaim cannot be replaced, since its deletion cannot be undone: use a new name, or delete it at the end of an earlier Transaction/u,
    );
  expect(await planned(pod("b"))).toMatch(/pod updates may not change fields other than [^;"]+; use type Replace/u);
});
