import { expect, it } from "vitest";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../../packages/cli/src/manifests/kubernetes-yaml.ts";
import { parseManifests } from "../../packages/cli/src/manifests/read-manifests.ts";
import { kubectlWith } from "../fixtures/cluster.ts";

const SCALARS = [
  ["0400", "-0400", "0o400", "08", "0x1F", "0b11", "1_000", "+5", "1e3", ".5", "1.50", "1."],
  ["yes", "No", "on", "OFF", "y", "N", "true", "False", "~", "null", "", "Null"],
  ["2001-01-01", "2001-01-01T10:00:00Z", "12:30", "12:30:45", "190:20:30", "1.2.3", "1Gi", "0400m"],
  ['"0400"', "'yes'", "! 0400", "!!str 0400", "!!binary aGVsbG8=", "!!int 7", "=", "<<"],
].flat();

const manifest = (values: readonly string[]): string =>
  [
    "apiVersion: v1",
    "kind: ConfigMap",
    "metadata: {name: scalars}",
    "base: &base {one: 1, two: 2}",
    "merged:",
    "  <<: *base",
    "  two: 0400",
    "data:",
    ...values.map((value, n) => `  v${n}: ${value}`),
    "",
  ].join("\n");

/** What kubectl makes of it, without asking whether it may be so. */
const byKubectl = async (text: string): Promise<unknown> => {
  const args = ["create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"];
  const { stdout } = await kubectlWith({ stdin: text }, ...args);
  const { metadata: _, ...rest } = JSON.parse(stdout) as Record<string, unknown>;
  return rest;
};

const byJanus = (text: string): unknown => {
  const [{ manifest } = { manifest: {} }] = parseManifests(text, "here");
  const { metadata: _, ...rest } = manifest as Record<string, unknown>;
  return rest;
};

it("a manifest has the same values for the command line as for kubectl", async () => {
  expect(byJanus(manifest(SCALARS))).toEqual(await byKubectl(manifest(SCALARS)));
});

it("a text that is printed as YAML is the same text for kubectl, and when it is read again", async () => {
  const data = Object.fromEntries(SCALARS.map((text, n) => [`v${n}`, text]));
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "texts" }, data };
  const printed = stringify(object, KUBERNETES_YAML);
  expect(await byKubectl(printed)).toMatchObject({ data });
  expect(byJanus(printed)).toMatchObject({ data });
});

/** Of an object as JSON: numbers that JavaScript would round are compared as text. */
const dataOf = (json: string) => /"data": ?\{[^}]*\}/u.exec(json)?.[0].replaceAll(/\s/gu, "");

it("integers that JavaScript would round are those of kubectl, and are printed as they are", async () => {
  const integers = [
    "9007199254740993",
    "-9223372036854775808",
    "+9_007_199_254_740_995",
    "9007199254740991",
    "18446744073709551616",
  ];
  const text = ["apiVersion: v1", "kind: ConfigMap", "metadata: {name: integers}", "data:"]
    .concat(integers.map((value, n) => `  v${n}: ${value}`))
    .join("\n");
  const [{ manifest } = { manifest: {} }] = parseManifests(text, "here");
  const args = ["create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"];
  const { stdout } = await kubectlWith({ stdin: text }, ...args);
  expect(dataOf(JSON.stringify(manifest))).toBe(dataOf(stdout));
  expect(stringify(manifest, KUBERNETES_YAML)).toContain("v0: 9007199254740993\n  v1: -9223372036854775808\n");
});
