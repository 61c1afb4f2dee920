// Tests the kinds of the Git journal: what their CustomResourceDefinitions say, and what their codecs accept.
import { asObject, type JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { gitJournalCrds } from "../../../packages/git-journal/src/api/crds.ts";
import { GitDestination } from "../../../packages/git-journal/src/api/git-destination.ts";
import { branchesOf, defaultBranch, GitRepoConfig } from "../../../packages/git-journal/src/api/git-repo-config.ts";
import { ClusterWatchRule, WatchRule } from "../../../packages/git-journal/src/api/watch-rule.ts";
import { ACCEPTED, FOLDER, REFUSED } from "../../api/git-journal-specs.ts";

const metadata = {
  name: "a",
  namespace: "shop",
  uid: "u",
  resourceVersion: "1",
  creationTimestamp: "2026-01-01T00:00:00Z",
};

const KINDS = { GitRepoConfig, GitDestination, WatchRule, ClusterWatchRule };

/** The messages with which the codec refuses an object with this spec. */
const refusals = (kind: keyof typeof KINDS, spec: unknown): readonly string[] => {
  const decoded: E.Either<readonly { readonly message?: string | undefined }[], unknown> = KINDS[kind].decode({
    metadata,
    spec,
  });
  return E.isLeft(decoded) ? decoded.left.map(({ message = "" }) => message) : [];
};

const crd = (kind: string): JsonObject =>
  asObject(gitJournalCrds.map((one) => asObject(one["spec"])).find((spec) => asObject(spec["names"])["kind"] === kind));
const version = (kind: string): JsonObject => asObject((crd(kind)["versions"] as readonly JsonObject[])[0]);

/** Paths of the fields of a schema that kubectl explain says nothing of. */
const unexplained = (schema: unknown, path: string): readonly string[] => {
  const { properties, items, description } = asObject(schema);
  const below = Object.entries(asObject(properties)).flatMap(([name, field]) => unexplained(field, `${path}.${name}`));
  const own = typeof description === "string" ? [] : [path];
  return [...own, ...below, ...(items === undefined ? [] : unexplained(items, `${path}[]`))];
};

describe("CustomResourceDefinitions", () => {
  it.each(Object.keys(KINDS))("kubectl explain has a text for each field of the spec of a %s", (kind) => {
    const { properties } = asObject(asObject(version(kind)["schema"])["openAPIV3Schema"]);
    const all = Object.entries(asObject(asObject(asObject(properties)["spec"])["properties"]));
    const silent = all.flatMap(([name, field]) => unexplained(field, name)).filter((path) => !path.endsWith("[]"));
    expect(silent).toEqual([]);
  });

  it.each([
    ["GitRepoConfig", "gitrepoconfigs", "Namespaced", "URL Ready Reason Age (Message)"],
    [
      "GitDestination",
      "gitdestinations",
      "Namespaced",
      "Repo Branch BaseFolder Ready Reason Pushed (Commit) Age (Message)",
    ],
    ["WatchRule", "watchrules", "Namespaced", "Destination Ready Reason Age (Message)"],
    ["ClusterWatchRule", "clusterwatchrules", "Cluster", "Destination Ready Reason Age (Message)"],
  ])("%s has upstream's plural and scope, and a status subresource", (kind, plural, scope, columns) => {
    expect(crd(kind)).toMatchObject({
      group: "configbutler.ai",
      scope,
      names: { plural, singular: kind.toLowerCase(), categories: ["gitjournal"] },
    });
    expect(asObject(crd(kind)["names"])["shortNames"]).toBeUndefined();
    expect(version(kind)).toMatchObject({
      name: "v1alpha1",
      served: true,
      storage: true,
      subresources: { status: {} },
    });
    const shown = version(kind)["additionalPrinterColumns"] as readonly JsonObject[];
    const names = shown.map(({ name, priority }) => (priority === 1 ? `(${name as string})` : (name as string)));
    expect(names.join(" ")).toBe(columns);
  });

  it("fields that are not known are pruned, at any depth", () => {
    expect(JSON.stringify(gitJournalCrds)).not.toContain("x-kubernetes-preserve-unknown-fields");
  });
});

const MESSAGES = [
  "set allowedBranches (or branch)",
  "namespaceSelector is required with mode FromSelector, and only then",
  "set destinationRef to a GitDestination, or gitRepoConfigRef to a GitRepoConfig",
  "destinationRef.namespace is required: a ClusterWatchRule has no namespace of its own",
  "gitRepoConfigRef.namespace is required: a ClusterWatchRule has no namespace of its own",
  FOLDER,
];

it.each(MESSAGES)("the API server says: %s", (message) => {
  expect(JSON.stringify(gitJournalCrds)).toContain(`"message":${JSON.stringify(message)}`);
});

describe("objects that are accepted", () => {
  it.each(ACCEPTED)("%s", (_, kind, spec) => {
    expect(refusals(kind, spec)).toEqual([]);
  });
});

describe("objects that are refused", () => {
  it.each(REFUSED)("%s", (_, kind, spec, message) => {
    expect(refusals(kind, spec)).toEqual([message]);
  });
});

it("branch counts as allowed, and is that of rules that name the repository directly", () => {
  expect(branchesOf({ repoUrl: "", branch: "main", allowedBranches: ["dev", "main"] })).toEqual(["main", "dev"]);
  expect(defaultBranch({ repoUrl: "", allowedBranches: ["dev", "main"] })).toBe("dev");
});
