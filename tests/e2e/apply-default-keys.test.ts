import { expect, it } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { applying } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { gadgets } from "../fixtures/gadgets.ts";
import { workspace } from "../fixtures/workspace.ts";

const text = { type: "string" };
/** A list whose second key has a default, as `protocol` of ports has: but not TCP. */
const schema = {
  openAPIV3Schema: {
    type: "object",
    properties: {
      note: text,
      parts: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name", "kind"],
        items: {
          type: "object",
          required: ["name"],
          properties: { name: text, kind: { ...text, default: "K" }, v: text },
        },
      },
    },
  },
};

it("refuses an Apply that removes something where an item leaves out a key of its list, which may be another one than it had", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await administrator.create(gadgets(place.namespace, { schema }));
  const established = () =>
    kubectl("wait", "--for=condition=Established", "crd", `gadgets.${place.namespace}.example.com`).then(
      () => true,
      () => false,
    );
  await expect.poll(established).toBe(true);
  const manifest = (fields: object): Manifest => ({
    apiVersion: `${place.namespace}.example.com/v1`,
    kind: "Gadget",
    metadata: { name: "one" },
    ...fields,
  });
  await place.janus();
  const first = await place.run([applying(manifest({ note: "n", parts: [{ name: "a", kind: "L", v: "1" }] }))], {
    name: "first",
  });
  expect(first.status.phase).toBe("Committed");
  const { status } = await place.run([applying(manifest({ parts: [{ name: "a", v: "2" }] }))], { name: "second" });
  expect([status.phase, status.items[0]?.error]).toEqual([
    "Failed",
    expect.stringMatching(/^an item of \.parts of Gadget .* leaves out kind, .*: write it$/u),
  ]);
  const named = [applying(manifest({ parts: [{ name: "a", kind: "K", v: "2" }] }))];
  expect((await place.run(named, { name: "third" })).status.phase).toBe("Committed");
  expect((await place.read(manifest({})))["parts"]).toEqual([{ name: "a", kind: "K", v: "2" }]);
});
