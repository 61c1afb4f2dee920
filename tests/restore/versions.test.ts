import { beforeAll, expect, it } from "vitest";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { GROUP } from "./kinds.ts";
import { manifest, openScene } from "./scene.ts";
import { lasting, target } from "./target.ts";

beforeAll(openScene);

const version = (name: string) => ({
  name,
  served: true,
  storage: name === "v1",
  subresources: { status: {} },
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
});
const twins = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `twins.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { kind: "Twin", plural: "twins" },
    versions: ["v1", "v2"].map(version),
  },
};

beforeAll(async () => {
  await kubectlWith({ stdin: JSON.stringify(twins) }, "apply", "--server-side", "-f", "-");
  await kubectl("wait", "--for=condition=Established", "crd", twins.metadata.name);
});

it.each(["Patch", "Update"] as const)(
  "who wrote the status in another version of a kind owns it again after a %s",
  async (type) => {
    const name = type.toLowerCase();
    const v1 = await target(manifest(`${GROUP}/v1`, "Twin", name));
    const v2 = await target(manifest(`${GROUP}/v2`, "Twin", name));
    await v1.apply("gitops", { spec: { size: 1 } });
    await v2.edit("operator", { status: { ready: true } }, "status");
    const { before, restore } = await v1.change(type, { spec: { size: 2 } });
    const restored = await restore();
    expect(restored).toMatchObject({ conflicts: [], isOurs: false });
    expect(lasting(restored.object)).toEqual(lasting(before));
    expect(before.metadata.managedFields).toHaveLength(2);
  },
);
