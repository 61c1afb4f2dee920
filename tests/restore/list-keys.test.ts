import { beforeAll, describe, expect, it } from "vitest";
import { GROUP } from "./kinds.ts";
import { manifest, openScene } from "./scene.ts";
import { type Fields, lasting, target } from "./target.ts";

beforeAll(openScene);

const [tcp, udp] = [
  { name: "a", port: 80 },
  { name: "u", port: 80, protocol: "UDP" },
] as const;

const kinds: readonly (readonly [kind: string, apiVersion: string, spec: Fields])[] = [
  ["Service", "v1", { type: "NodePort" }],
  ["Split", `${GROUP}/v1`, {}],
];

const table = kinds.flatMap(([kind, apiVersion, spec]) =>
  (
    [
      ["Update", "an item is left out", [tcp, udp], [tcp]],
      ["Update", "an item is left out, of two that come the other way round", [udp, tcp], [tcp]],
      ["Update", "an item is left out, of two that another is named with", [tcp, udp], [{ name: "v", port: 81 }, udp]],
      ["Update", "an item is left out, and another comes", [udp], [tcp]],
      ["Update", "another field of an item", [tcp, udp], [{ ...tcp, name: "b" }, udp]],
      ["Patch", "another field of an item", [tcp, udp], [{ ...tcp, name: "b" }]],
      ["Patch", "another item", [udp], [tcp]],
    ] as const
  ).map(([type, what, was, wanted]) => ({ kind, apiVersion, spec, type, what, was, wanted })),
);

describe("a list whose keys the content leaves to their defaults is as before", () => {
  it.each(table)("$kind, $type: $what", async ({ kind, apiVersion, spec, type, what, was, wanted }) => {
    const name = `${type} ${what}`.toLowerCase().replaceAll(/[^a-z]+/g, "-");
    const object = await target(manifest(apiVersion, kind, name));
    await object.create("kubectl", { spec: { ...spec, ports: was } });
    const { before, restore } = await object.change(type, { spec: { ...spec, ports: wanted } });
    const { object: live, conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [], isOurs: false });
    expect(lasting(live)).toEqual(lasting(before));
  });
});

describe("an item that somebody has brought back or taken away since", () => {
  it("is not taken for the one that the change had named", async () => {
    const object = await target(manifest(`${GROUP}/v1`, "Split", "brought"));
    await object.create("kubectl", { spec: { ports: [udp, tcp] } });
    const { restore } = await object.change("Update", { spec: { ports: [tcp] } });
    await object.apply("person", { spec: { ports: [{ ...udp, name: "p" }] } });
    const { object: live, conflicts } = await restore();
    expect({ conflicts }).toEqual({ conflicts: ['.spec.ports[port=80,protocol="UDP"].name'] });
    expect(live["spec"]).toMatchObject({ ports: expect.arrayContaining([{ ...udp, name: "p" }]) as unknown });
  });

  it.each(["Patch", "Update"] as const)(
    "is a conflict where they gave what a %s had set another value",
    async (type) => {
      const object = await target(manifest(`${GROUP}/v1`, "Split", `over-${type.toLowerCase()}`));
      await object.create("kubectl", { spec: { ports: [udp, tcp] } });
      const { restore } = await object.change(type, { spec: { ports: [{ ...tcp, name: "b" }, udp] } });
      await object.edit("person", { spec: { ports: [udp, { ...tcp, protocol: "TCP", name: "c" }] } });
      const { object: live, conflicts } = await restore();
      expect(conflicts).toEqual(['.spec.ports[port=80,protocol="TCP"].name']);
      expect(live["spec"]).toMatchObject({ ports: [udp, { ...tcp, name: "c" }] });
    },
  );

  it("stays away", async () => {
    const object = await target(manifest(`${GROUP}/v1`, "Split", "taken"));
    await object.create("kubectl", { spec: { ports: [tcp], colour: "red" } });
    const { restore } = await object.change("Update", { spec: { ports: [tcp], colour: "blue" } });
    await object.edit("person", { spec: { ports: null } });
    const { object: live, conflicts } = await restore();
    expect({ conflicts, spec: live["spec"] }).toEqual({ conflicts: [], spec: { colour: "red" } });
  });
});
