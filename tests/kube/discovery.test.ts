import { randomBytes } from "node:crypto";
import { discovery, listable } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, describe, expect, it } from "vitest";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { right, sharedClient } from "./client.ts";

const api = sharedClient();
const unknown = E.left(expect.objectContaining({ type: "unknown" }));

const apply = async (manifest: object): Promise<void> => {
  const applied = await kubectlWith({ stdin: JSON.stringify(manifest) }, "apply", "-f", "-");
  if (applied.code !== 0) throw new Error(applied.stderr);
};

describe("discovery", () => {
  it("finds what every cluster has", async () => {
    const { resource } = discovery(api);
    expect(right(await resource("apps/v1", "Deployment"))).toEqual({
      group: "apps",
      version: "v1",
      plural: "deployments",
      kind: "Deployment",
      namespaced: true,
      statusSubresource: true,
    });
    expect(right(await resource("v1", "ConfigMap"))).toMatchObject({ plural: "configmaps", statusSubresource: false });
    expect(right(await resource("v1", "Namespace"))).toMatchObject({ namespaced: false, statusSubresource: true });
    expect(await resource("v1", "configmap")).toEqual(
      E.left({ type: "unknown", message: expect.stringContaining("did you mean ConfigMap?") }),
    );
    expect(await resource("autoscaling/v1", "Scale")).toEqual(unknown);
  });

  it("finds a kind whose definition was created after it was asked for", async () => {
    const { resource } = discovery(api);
    const group = `${randomBytes(5).toString("hex")}.example`;
    expect(await resource(`${group}/v1`, "Later")).toEqual(unknown);
    afterAll(() => kubectl("delete", "crd", `laters.${group}`, "--wait=false"));
    await apply({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `laters.${group}` },
      spec: {
        group,
        names: { plural: "laters", kind: "Later" },
        scope: "Namespaced",
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: "object" } },
          },
        ],
      },
    });
    await expect
      .poll(() => resource(`${group}/v1`, "Later"))
      .toEqual(
        E.right({ group, version: "v1", plural: "laters", kind: "Later", namespaced: true, statusSubresource: true }),
      );
  });

  it("lists every kind that can be listed, once, as looking each up finds it", async () => {
    const kinds = right(await listable(api));
    const { resource } = discovery(api);
    const deployments = right(await resource("apps/v1", "Deployment"));
    expect(kinds.filter(({ plural }) => plural === "deployments")).toEqual([deployments]);
    expect(kinds).toContainEqual(right(await resource("v1", "Namespace")));
    expect(new Set(kinds.map(({ group, plural }) => `${group}/${plural}`)).size).toBe(kinds.length);
    expect(kinds.map(({ plural }) => plural)).not.toContain("tokenreviews");
  });
});
