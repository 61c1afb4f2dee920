// Tests what is kept of a live object, what its file is, and which change a watch has shown of it.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Json, JsonObject, KubeObject } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { OPERATIONS } from "../../../packages/git-journal/src/api/watch-rule.ts";
import { secretsOf } from "../../../packages/git-journal/src/core/age-keys.ts";
import { blobId } from "../../../packages/git-journal/src/core/blob-id.ts";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { contentOf } from "../../../packages/git-journal/src/core/file-content.ts";
import {
  identityOf,
  type IngestContext,
  type Ingested,
  ingested,
  type KeptObject,
  seenChange,
} from "../../../packages/git-journal/src/core/kept-object.ts";
import { objectPath, ROOT } from "../../../packages/git-journal/src/core/path.ts";
import { rulesOfWatchRule, type SelectedResource } from "../../../packages/git-journal/src/core/selection.ts";
import { right } from "./right.ts";
import { anyCharacter } from "../core/arbitrary-text.ts";

const rules = right(rulesOfWatchRule({ rules: [{ resources: ["configmaps", "secrets"] }] }, "shop"));
const resource = (plural: string): SelectedResource => ({
  group: "",
  version: "v1",
  plural,
  kind: plural,
  namespaced: true,
  rules,
});
const context = (more: Partial<IngestContext> = {}): IngestContext => ({
  resource: resource("configmaps"),
  folder: ROOT,
  namespaceLabels: {},
  secrets: { key: new Uint8Array(32), recipients: [] },
  format: "sha1",
  ...more,
});
const object = (kind: string, more: JsonObject = {}, metadata: JsonObject = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "a", namespace: "shop", uid: "u", resourceVersion: "7", ...metadata },
  ...more,
});
const configMap = object("ConfigMap", { data: { k: "v" } });
const secret = object("Secret", { type: "Opaque", data: { password: "c2VjcmV0" } });
const ofSecret = (recipients: readonly string[] | undefined): Ingested =>
  ingested(secret, context({ resource: resource("secrets"), secrets: { key: new Uint8Array(32), recipients } }));

const kept = (one: KubeObject): KeptObject => {
  const result = ingested(one, context());
  if (result.type !== "kept") throw new Error(result.type);
  return result.object;
};

describe("a live object", () => {
  const text = canonicalYaml({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "shop" },
    data: { k: "v" },
  });

  it("has a file, of which the path, the id and what it says are kept", () => {
    expect(ingested(configMap, context())).toEqual({
      type: "kept",
      path: "core/v1/configmaps/shop/a.yaml",
      file: { type: "plain", text },
      object: {
        operations: new Set(OPERATIONS),
        fingerprint: contentOf(text)?.fingerprint,
        blob: blobId(text, "sha1"),
        bytes: Buffer.byteLength(text),
        uid: "u",
        resourceVersion: "7",
        content: contentOf(text)?.fingerprint,
        marks: new Map(),
      },
    });
  });

  it.each([
    ["of another namespace", object("ConfigMap", {}, { namespace: "other" })],
    ["that is being deleted", object("ConfigMap", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
  ])("one %s has none", (_, one) => {
    expect(ingested(one, context())).toEqual({ type: "unselected" });
  });

  it("one that is nested too deep keeps the file that it has", () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 5_000; depth += 1) deep = { deep };
    expect(ingested(object("ConfigMap", { data: deep }), context())).toEqual({
      type: "spared",
      path: "core/v1/configmaps/shop/a.yaml",
      because: "ConfigMap shop/a is nested too deep for a file of YAML",
    });
  });
});

describe("a Secret", () => {
  it("without recipients has a file without data, and with a digest of them", () => {
    const result = ofSecret([]);
    expect(JSON.stringify(result)).not.toMatch(/c2VjcmV0|password/u);
    expect(result).toMatchObject({
      file: { type: "plain" },
      object: { blob: expect.stringMatching(/^[0-9a-f]{40}$/u) },
    });
  });

  it("with recipients is encrypted: its blob is another each time, and no plain text of it is made", () => {
    const result = ofSecret(["age1"]);
    expect(result).toMatchObject({
      file: {
        type: "encrypted",
        data: { password: "c2VjcmV0" },
        recipients: ["age1"],
        file: { metadata: { name: "a" } },
      },
    });
    expect(result.type === "kept" && result.object.blob).toBeUndefined();
    expect(
      result.type === "kept" && result.file.type === "encrypted" && JSON.stringify(result.file.file),
    ).not.toContain("c2VjcmV0");
  });

  it("with a wrong recipient is not written at all, which the condition of the destination says", () => {
    const { secrets } = secretsOf(new Uint8Array(32), ["age1"]);
    expect(ingested(secret, context({ resource: resource("secrets"), secrets }))).toEqual({
      type: "spared",
      path: "core/v1/secrets/shop/a.yaml",
      because: undefined,
    });
  });

  it("without a key of the digests is not written at all", () => {
    expect(ofSecret(undefined)).toEqual({
      type: "spared",
      path: "core/v1/secrets/shop/a.yaml",
      because: "Secrets are left as they are: the key of their digests is not known",
    });
  });
});

it("a GitRepoConfig with a password in its repoUrl is not written, nor what has one in it", () => {
  const repository = {
    apiVersion: "configbutler.ai/v1alpha1",
    kind: "GitRepoConfig",
    metadata: { name: "a", namespace: "shop" },
    spec: { repoUrl: "https://bot:correct-horse@git.example.com/live.git" },
  };
  const change = { type: "Create", target: { ...repository, name: "a" }, content: repository };
  const other = { ...repository, spec: { repoUrl: "ssh://git@git.example.com/live.git" } };
  const said = [repository, object("Transaction", { spec: { changes: [change] } }), other].map((one) => {
    const result = ingested(one, context());
    return result.type === "spared" ? result.because : result.type;
  });
  const what = "has a name and a password in its repoUrl: use secretRef, or exclude the kind from what is written";
  expect(said).toEqual([`GitRepoConfig shop/a ${what}`, `Transaction shop/a ${what}`, "kept"]);
});

const nested = (value: Json): Json => {
  let deep = value;
  for (let depth = 0; depth < 150; depth += 1) deep = { a: deep };
  return deep;
};

it("an object whose file would be many times as large as itself keeps the file that it has", () => {
  const numbers = Array.from({ length: 100_000 }, () => 0);
  const lines = "a\n".repeat(100_000);
  for (const value of [numbers, lines])
    expect(ingested(object("ConfigMap", { data: nested(value) as JsonObject }), context())).toMatchObject({
      type: "spared",
      because: "ConfigMap shop/a is too large for a file of YAML",
    });
  expect(ingested(object("ConfigMap", { data: { numbers, lines } }), context()).type).toBe("kept");
});

it.each([
  ["YAML", "apiVersion: v1\nkind: Secret\ndata:\n  password: aHVudGVyMg==\n"],
  ["YAML with stringData", "stringData:\n  password: hunter2\n"],
  ["YAML in JSON", JSON.stringify({ manifest: "kind: Secret\ndata:\n  password: aHVudGVyMg==\n" })],
  ["JSON in JSON", JSON.stringify({ manifest: JSON.stringify({ data: { password: "aHVudGVyMg==" } }) })],
  ["a list of JSON", JSON.stringify([{ kind: "Secret", data: { password: "aHVudGVyMg==" } }], undefined, 2)],
])("a copy of a Secret in an annotation is not written, however short its values are: %s", (_, copy) => {
  const one = object(
    "Secret",
    { data: { password: "aHVudGVyMg==" } },
    { annotations: { copy, kept: "metadata: of data, and stringDataOf: it" } },
  );
  const result = ingested(one, context({ resource: resource("secrets") }));
  expect(JSON.stringify(result)).not.toMatch(/aHVudGVyMg|hunter2/u);
  expect(JSON.stringify(result)).toContain("stringDataOf");
});

describe("an object with data of a Secret in it, in plain,", () => {
  const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, data: { password: "c2VjcmV0" } };
  const change = { type: "Apply", target: { apiVersion: "v1", kind: "Secret", name: "db" } };
  const sealed = { template: { type: "Opaque", data: { password: "{{ .password }}" } }, encryptedData: { a: "AgB" } };

  it.each<readonly [string, JsonObject]>([
    ["a manifest", { spec: { workload: { manifests: [manifest] } } }],
    ["a manifest with stringData", { spec: { manifest: { ...manifest, data: {}, stringData: { a: "b" } } } }],
    ["a change of a Transaction", { spec: { changes: [{ ...change, content: { data: { password: "c2VjcmV0" } } }] } }],
    ["a change that merges text", { spec: { changes: [{ ...change, content: { stringData: { a: "b" } } }] } }],
  ])("keeps the file that it has: %s", (_, fields) => {
    expect(ingested(object("Transaction", fields), context())).toEqual({
      type: "spared",
      path: "core/v1/configmaps/shop/a.yaml",
      because:
        "Transaction shop/a has data of a Secret in it, in plain: keep them in a Secret, or exclude the kind from what is written",
    });
  });

  it.each<readonly [string, JsonObject]>([
    ["a manifest without data", { spec: { manifest: { ...manifest, data: {} } } }],
    ["a reference", { spec: { secretRef: { apiVersion: "v1", kind: "Secret", name: "db" }, data: { a: "b" } } }],
    ["a template and what is encrypted", { spec: sealed }],
    ["content that is elsewhere", { spec: { changes: [{ ...change, contentFrom: { secretKeyRef: { name: "x" } } }] } }],
    ["a ConfigMap", { spec: { manifest: { ...manifest, kind: "ConfigMap" } } }],
    ["a status", { status: { manifest } }],
  ])("is not one with %s", (_, fields) => {
    expect(ingested(object("Transaction", fields), context())).toMatchObject({ type: "kept" });
  });
});

describe("the id of a blob", () => {
  it("is git's", async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), "janus-blobs-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const texts = fc.sample(fc.string({ unit: anyCharacter }), 20);
    const names = texts.map((_, at) => `${at}`);
    for (const [at, text] of texts.entries()) await writeFile(path.join(directory, `${at}`), text);
    // One process for all: to fork a large one takes long.
    const ofGit = execFileSync("git", ["hash-object", "--", ...names], { cwd: directory, encoding: "utf8" });
    expect(texts.map((text) => blobId(text, "sha1"))).toEqual(ofGit.trim().split("\n"));
    expect(blobId("", "sha256")).toBe("473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
  });
});

describe("a change that a watch has shown", () => {
  const place = identityOf(resource("configmaps"), configMap);
  const before = kept(configMap);
  const seen = (one: KubeObject | undefined, former: KeptObject | undefined = before) =>
    seenChange(place, former, one && { kept: kept(one), object: one });

  it("of a new object is its creation, also under the name of a former one", () => {
    const created = {
      place,
      operation: "CREATE",
      content: before.content,
      replicas: undefined,
      resourceVersion: undefined,
    };
    expect(seenChange(place, undefined, { kept: before, object: configMap })).toEqual({ ...created, uid: "u" });
    expect(seen(object("ConfigMap", { data: { k: "v" } }, { uid: "new" }))).toEqual({ ...created, uid: "new" });
  });

  it("was made on the version that was shown before", () => {
    const after = object("ConfigMap", { data: { k: "w" }, spec: { replicas: 3 } }, { resourceVersion: "8" });
    expect(seen(after)).toEqual({
      place,
      operation: "UPDATE",
      content: kept(after).content,
      replicas: 3,
      uid: "u",
      resourceVersion: "7",
    });
  });

  it("of what is not written is none", () => {
    expect(seen(object("ConfigMap", { data: { k: "v" }, status: {} }, { resourceVersion: "8" }))).toBeUndefined();
    expect(seenChange(place, undefined, undefined)).toBeUndefined();
  });

  it("of a deletion has what was there", () => {
    expect(seen(undefined)).toEqual({
      place,
      operation: "DELETE",
      content: before.content,
      replicas: undefined,
      uid: "u",
      resourceVersion: "7",
    });
  });

  it("has the path under which it is kept", () => {
    expect(objectPath(ROOT, place)).toBe("core/v1/configmaps/shop/a.yaml");
  });
});
