import { expect, it } from "vitest";
import { parseManifests } from "../../../packages/cli/src/manifests/read-manifests.ts";

const parsed = (file: string, text: string) => () => parseManifests(Buffer.from(text), file);
const KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";

it.each([
  ["shop/kustomization.yaml", "resources: [a.yaml]\n"],
  ["https://example.com/shop/kustomization.yml", "resources: [a.yaml]\n"],
  ["shop/kustomization.yaml", KUSTOMIZATION],
  ["standard input", `${KUSTOMIZATION}metadata: {name: a}\n`],
])("says of a kustomization which flag takes it: %s, %j", (file, text) => {
  expect(parsed(file, text)).toThrow(
    `${file}, line 1: is a kustomization, not a Kubernetes manifest: use -k with its directory, instead of -f`,
  );
});

it("takes a Kustomization of Flux for a manifest", () => {
  const flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n";
  expect(parsed("kustomization.yaml", flux)()).toHaveLength(1);
});

it.each([
  ["a.yaml", "resources: [a.yaml]\n"],
  ["kustomization.yaml", "kind: Kustomization\n"],
])("says what is missing of what may be anything: %s, %j", (file, text) => {
  expect(parsed(file, text)).toThrow(/missing: it is not a Kubernetes manifest$/u);
});
