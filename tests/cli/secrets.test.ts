import { expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { deployment, secret } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { janus, janusWith } from "./command-line.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** As `kubectl apply` leaves it: the values are in an annotation, too. */
const applied = (token: string) => {
  const manifest = secret("key", { token });
  const annotations = { [LAST_APPLIED]: `${JSON.stringify(manifest)}\n` };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
};

it("shows no value that kubectl apply has put into an annotation of a Secret", async () => {
  const { namespace, create, run, patch, janus: controller } = await workspace();
  await create(applied("hunter2"));
  await controller();
  const failing = { ...creating(deployment("web", "web:v1")), waitFor: ["ready"] };
  await run([patching(secret("key", { token: "x" })), failing], { timeout: "8s" });
  await patch(applied("correct-horse"));
  const on = ["txn", "-n", namespace];
  const flags = ["-n", namespace, "--service-account", "deployer"];
  const outcomes = [
    await janusWith(JSON.stringify(applied("battery")), "plan", "-f", "-", ...flags),
    await janus("snapshot", "show", ...on),
    await janus("snapshot", "diff", ...on),
  ];
  for (const { stdout, stderr } of outcomes) {
    expect(stdout).toContain(LAST_APPLIED);
    for (const value of ["hunter2", "correct-horse", "battery"])
      for (const text of [value, Buffer.from(value).toString("base64")]) expect(stdout + stderr).not.toContain(text);
  }
  expect((await janus("snapshot", "show", "--show-secrets", ...on)).stdout).toContain(
    Buffer.from("hunter2").toString("base64"),
  );
});
