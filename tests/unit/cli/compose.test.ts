import { expect, it } from "vitest";
import { compose } from "../../../packages/cli/src/manifests/compose.ts";
import { parseManifests } from "../../../packages/cli/src/manifests/read-manifests.ts";

it("leaves a manifest in the namespace that it names: that of -n is of the Transaction, and of those that name none", () => {
  const manifests = [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b", namespace: "other" } },
  ];
  const { metadata, spec } = compose(
    manifests.flatMap((manifest) => parseManifests(Buffer.from(JSON.stringify(manifest)), "here")),
    "shop",
    {},
  );
  expect(metadata.namespace).toBe("shop");
  expect(spec.changes.map(({ target }) => [target.name, target.namespace])).toEqual([
    ["a", undefined],
    ["b", "other"],
  ]);
});
