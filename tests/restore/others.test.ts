import { beforeAll, describe, expect, it } from "vitest";
import { GROUP, type Kind, kinds, podTemplate } from "./kinds.ts";
import { manifest, openScene, world } from "./scene.ts";
import { type Fields, owners, target } from "./target.ts";

beforeAll(openScene);

const deployment = kinds.find(({ kind }) => kind === "Deployment") as Kind;

describe("what others did since the change", () => {
  it("is theirs: an autoscaler keeps its replicas, a person the labels, and the image is back", async () => {
    const object = await world(deployment, "scaled");
    const { before, restore } = await object.change("Patch", { spec: { template: podTemplate("web:2") } });
    await object.edit("autoscaler", { spec: { replicas: 7 } }, "scale");
    await object.edit("somebody", { metadata: { labels: { since: "then" } } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [], isOurs: false });
    expect(live).toMatchObject({
      metadata: { labels: { by: "person", since: "then" } },
      spec: { replicas: 7, template: before["spec"] === undefined ? {} : (before["spec"] as Fields)["template"] },
    });
    const managers = owners(live).map(({ manager, operation, subresource }) =>
      [manager, operation, subresource].join(" ").trim(),
    );
    expect(managers.toSorted()).toEqual([
      "autoscaler Update scale",
      "gitops Apply",
      "person Update",
      "somebody Update",
    ]);
  });

  it("is a conflict where they took over a field of ours, and left as it is", async () => {
    const object = await target(manifest("v1", "ConfigMap", "taken"));
    await object.apply("gitops", { data: { a: "1", b: "1", c: "1" } });
    const { restore } = await object.change("Patch", { data: { a: "2", b: "2", d: "2" } });
    await object.edit("person", { data: { a: "3", d: null, e: "3" } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [".data.a"], isOurs: false });
    expect(live["data"]).toEqual({ a: "3", b: "1", c: "1", e: "3" });
  });

  it("is a conflict where a GitOps tool has applied the same value: it is theirs now", async () => {
    const object = await target(manifest("v1", "ConfigMap", "shared"));
    await object.apply("gitops", { data: { a: "1", b: "1" } });
    const { restore } = await object.change("Patch", { data: { a: "2", b: "2" } });
    await object.apply("gitops", { data: { a: "2", b: "1" } }, true);
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [".data.a"], isOurs: false });
    expect(live["data"]).toEqual({ a: "2", b: "1" });
  });

  it("stays in lists that are merged, whatever its characters", async () => {
    const object = await target(manifest(`${GROUP}/v1`, "Split", "merged"));
    await object.apply("gitops", { spec: { hosts: ["a"], ports: [{ port: 80 }] } });
    const { restore } = await object.change("Patch", { spec: { hosts: ["b"], ports: [{ port: 81 }] } });
    await object.apply("person", { spec: { hosts: ["<&>", "é\u2028"], ports: [{ port: 82, name: "<" }] } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [], isOurs: false });
    expect(live["spec"]).toEqual({
      hosts: ["a", "<&>", "é\u2028"],
      ports: [
        { port: 80, protocol: "TCP" },
        { port: 82, protocol: "TCP", name: "<" },
      ],
    });
  });
});
