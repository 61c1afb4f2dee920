// Tests what of a live object is in its file: all that is wanted, and nothing of this one cluster.
import type { JsonObject, KubeObject } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { contentOf, fingerprint } from "../../../packages/git-journal/src/core/file-content.ts";
import { isTooDeep, sanitised } from "../../../packages/git-journal/src/core/sanitise.ts";
import { contentDigest, fileOfSecret } from "../../../packages/git-journal/src/core/secret-file.ts";
import { object as anyObject } from "./arbitrary-object.ts";

const live = (kind: string, fields: JsonObject = {}, apiVersion = "v1", metadata: JsonObject = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: "a", ...metadata },
  ...fields,
});

const LIVE = {
  uid: "u",
  resourceVersion: "7",
  generation: 2,
  creationTimestamp: "2026-01-01T00:00:00Z",
  deletionTimestamp: "2026-01-01T00:00:00Z",
  deletionGracePeriodSeconds: 30,
  selfLink: "/x",
  managedFields: [{ manager: "kubectl" }],
  ownerReferences: [{ uid: "o" }],
  finalizers: ["a/b"],
};

describe("metadata", () => {
  it("keeps names, labels and annotations of users, and whatever else is not known", () => {
    const kept = { namespace: "shop", labels: { app: "x" }, annotations: { "example.com/a": "1" }, generateName: "a-" };
    expect(sanitised(live("ConfigMap", {}, "v1", { ...LIVE, ...kept }))["metadata"]).toEqual({ name: "a", ...kept });
  });

  it("empty labels and annotations go, and annotations of controllers", () => {
    const annotations = {
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
      "deployment.kubernetes.io/revision": "3",
      "control-plane.alpha.kubernetes.io/leader": "",
      "autoscaling.alpha.kubernetes.io/conditions": "",
      "configbutler.ai/content-digest": "x",
    };
    expect(sanitised(live("ConfigMap", {}, "v1", { labels: {}, annotations }))["metadata"]).toEqual({ name: "a" });
  });
});

describe("fields", () => {
  const template = { metadata: { labels: { a: "b" }, creationTimestamp: null }, spec: { containers: [] } };
  it.each<readonly [string, string, string, JsonObject, JsonObject]>([
    [
      "status goes",
      "apps/v1",
      "Deployment",
      { spec: { replicas: 1 }, status: { replicas: 1 } },
      { spec: { replicas: 1 } },
    ],
    [
      "a template has no time",
      "apps/v1",
      "StatefulSet",
      { spec: { template, volumeClaimTemplates: [{}, template] } },
      {
        spec: {
          template: { ...template, metadata: { labels: { a: "b" } } },
          volumeClaimTemplates: [{}, { ...template, metadata: { labels: { a: "b" } } }],
        },
      },
    ],
    [
      "addresses of a Service go",
      "v1",
      "Service",
      {
        spec: {
          clusterIP: "10.0.0.1",
          clusterIPs: ["10.0.0.1"],
          healthCheckNodePort: 1,
          ipFamilies: ["IPv4"],
          internalTrafficPolicy: "Local",
        },
      },
      { spec: { ipFamilies: ["IPv4"], internalTrafficPolicy: "Local" } },
    ],
    [
      "a headless Service stays one",
      "v1",
      "Service",
      { spec: { clusterIP: "None", clusterIPs: ["None"] } },
      { spec: { clusterIP: "None", clusterIPs: ["None"] } },
    ],
    [
      "a Service of another group is a custom resource",
      "serving.knative.dev/v1",
      "Service",
      { spec: { clusterIP: "x" } },
      { spec: { clusterIP: "x" } },
    ],
    [
      "the node of a Pod goes",
      "v1",
      "Pod",
      { spec: { nodeName: "n", restartPolicy: "Never" } },
      { spec: { restartPolicy: "Never" } },
    ],
    [
      "the address alone goes, too",
      "v1",
      "Service",
      { spec: { clusterIP: "10.0.0.1", ports: [] } },
      { spec: { ports: [] } },
    ],
    [
      "the volume of a claim goes",
      "v1",
      "PersistentVolumeClaim",
      { spec: { volumeName: "v", volumeMode: "Block" } },
      { spec: { volumeMode: "Block" } },
    ],
    [
      "a volume keeps the name of its claim",
      "v1",
      "PersistentVolume",
      { spec: { claimRef: { name: "c", uid: "u", resourceVersion: "1" } } },
      { spec: { claimRef: { name: "c" } } },
    ],
    [
      "finalizers of a Namespace go, with the spec that had nothing else",
      "v1",
      "Namespace",
      { spec: { finalizers: ["kubernetes"] } },
      {},
    ],
    [
      "roots that nobody knows stay",
      "v1",
      "ServiceAccount",
      { secrets: [{ name: "s" }], imagePullSecrets: [], immutable: true },
      { secrets: [{ name: "s" }], imagePullSecrets: [], immutable: true },
    ],
  ])("%s", (_, apiVersion, kind, fields, expected) => {
    expect(sanitised(live(kind, fields, apiVersion))).toEqual({
      apiVersion,
      kind,
      metadata: { name: "a" },
      ...expected,
    });
  });

  it("the object of a webhook and that of the watch afterwards have the same file", () => {
    const spec = { replicas: 1, template };
    const ofWebhook = live("Deployment", { spec, status: {} }, "apps/v1", {
      ...LIVE,
      resourceVersion: "6",
      managedFields: [],
    });
    const ofWatch = live("Deployment", { status: {}, spec: { template, replicas: 1 } }, "apps/v1", LIVE);
    expect(canonicalYaml(sanitised(ofWebhook))).toBe(canonicalYaml(sanitised(ofWatch)));
  });
});

it("what was sanitised is not changed by it again, and is read back from its file as it was", () => {
  fc.assert(
    fc.property(anyObject, (one) => {
      const once = sanitised(one as unknown as KubeObject);
      expect(sanitised(once as unknown as KubeObject)).toEqual(once);
      const read = contentOf(canonicalYaml({ ...once, metadata: { name: "a" } }));
      expect(read?.fingerprint).toBe(fingerprint({ ...once, metadata: { name: "a" } }));
    }),
  );
});

it("what is nested too deep is found without recursion", () => {
  let deep: JsonObject = {};
  for (let depth = 0; depth < 10_000; depth += 1) deep = { deep };
  expect(isTooDeep(deep)).toBe(true);
  expect(isTooDeep({ a: [{ b: [] }] })).toBe(false);
});

describe("what a file says", () => {
  const file = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\ndata:\n  k: v\n";
  it("comments, order and style do not count, nor noise that somebody has committed", () => {
    const other =
      '# why\ndata: {k: "v"}\nkind: ConfigMap\napiVersion: v1\nmetadata: {namespace: shop, name: a, uid: u}\n';
    expect(contentOf(other)).toEqual(contentOf(file));
    expect(contentOf(file.replace("v\n", "w\n"))).not.toEqual(contentOf(file));
  });

  it.each([
    ["two documents", `${file}---\n${file}`],
    ["a kustomization", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n"],
    ["no YAML", "a: ["],
    ["nothing", ""],
    ["a list", "- a\n"],
    ["an object without a name", file.replace("  name: a\n", "")],
  ])("%s is no object", (_, text) => {
    expect(contentOf(text)).toBeUndefined();
  });
});

const secret = sanitised(live("Secret", { type: "Opaque", data: { password: "cDQ=" } }));
const named = (namespace: string, name: string) => ({ ...secret, metadata: { namespace, name } });
const labelled = (data: string) => ({ ...secret, metadata: { name: "a", labels: { data, app: data } } });

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("Secrets", () => {
  const key = new Uint8Array(32).fill(1);
  const digest = contentDigest(key, secret);
  const sealed = {
    ...fileOfSecret(secret, { digest, recipients: ["age1"] }).file,
    data: { password: "ENC[AES256_GCM,data:x]" },
    sops: { age: [{ recipient: "age1", enc: "x" }], mac: "y" },
  };

  it("without recipients the file has no data, but a keyed digest of them", () => {
    const { file } = fileOfSecret(secret, { digest, recipients: [] });
    expect(file).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      type: "Opaque",
      metadata: { name: "a", annotations: { "configbutler.ai/content-digest": digest } },
    });
    expect(digest).toMatch(/^hmac-sha256:[0-9a-f]{64}$/u);
    expect(contentDigest(new Uint8Array(32), secret)).not.toBe(digest);
    expect(contentDigest(key, { ...secret, data: { password: "cDU=" } })).not.toBe(digest);
    expect(contentDigest(key, { ...secret, data: {} })).toBe(contentDigest(key, { ...secret, data: null }));
    expect(contentOf(canonicalYaml(file))?.fingerprint).toBe(
      fingerprint(fileOfSecret(secret, { digest, recipients: [] }).compared),
    );
  });

  it("the digest is that of one object: nobody learns from one of theirs what is in another", () => {
    const digests = [named("shop", "a"), named("shop", "b"), named("other", "a")].map((one) => contentDigest(key, one));
    expect(new Set(digests).size).toBe(3);
  });

  it("the digest is also that of labels which SOPS encrypts, since they are called data", () => {
    expect(contentDigest(key, labelled("x"))).not.toBe(contentDigest(key, labelled("y")));
    const { compared } = fileOfSecret(labelled("x"), { digest, recipients: ["age1"] });
    expect(compared["metadata"]).toMatchObject({ labels: { app: "x" } });
    expect(JSON.stringify(compared)).not.toContain('"data"');
    expect(fileOfSecret(labelled("x"), { digest, recipients: [] }).compared).toMatchObject({
      metadata: { labels: { data: "x" } },
    });
  });

  it.each([
    ["kapp.k14s.io/original", '{"kind":"Secret","data":{}}', false],
    ["example.com/applied", '{"stringData":{"password":"p4"}}', false],
    ["objectset.rio.cattle.io/applied", "H4sIAAAAAAAA", false],
    ["banzaicloud.com/last-applied", "UEsDBBQACAAI", false],
    ["example.com/yaml", "data:\n  password: Y29ycmVjdCBob3JzZQ==\n", false],
    ["example.com/json", '{"team":"shop"}', true],
    ["example.com/short", "cDQ=", true],
    ["example.com/data", "data: stringData", true],
  ])("an annotation with a copy of the data is left out: %s %s", (name, value, isKept) => {
    const copied = {
      ...secret,
      metadata: { name: "a", annotations: { [name]: value } },
      data: { password: "Y29ycmVjdCBob3JzZQ==", short: "cDQ=" },
    };
    for (const recipients of [[], ["age1"]]) {
      const { file } = fileOfSecret(copied, { digest, recipients });
      expect(Object.hasOwn((file["metadata"] as { annotations: object }).annotations, name)).toBe(isKept);
    }
  });

  it.each<readonly [string, string, boolean]>([
    ["as it is", "correct horse", false],
    ["in JSON", '{"password":"correct horse"}', false],
    ["for a URL", "db://app:correct%20horse@db", false],
    ["in hex", Buffer.from("correct horse").toString("hex").toUpperCase(), false],
    ["a short one", "hunter2", true],
    ["what is in its own name, too", "long-known-name", true],
    ["another text", "correct mule", true],
  ])("labels and annotations with a value of its own are left out: %s", (_, value, isKept) => {
    const repeated = {
      ...secret,
      metadata: { name: "long-known-name-db", labels: { value, app: "a" }, annotations: { value } },
      data: { a: base64("correct horse"), b: base64("hunter2"), c: base64("long-known-name") },
    };
    for (const recipients of [[], ["age1"]]) {
      const { metadata } = fileOfSecret(repeated, { digest, recipients }).file as unknown as typeof repeated;
      expect(metadata.labels).toEqual(isKept ? { value, app: "a" } : { app: "a" });
      expect(Object.hasOwn(metadata.annotations, "value")).toBe(isKept);
    }
  });

  it("equal digests and equal recipients are equal files, however they are encrypted", () => {
    const { compared } = fileOfSecret(secret, { digest, recipients: ["age1"] });
    expect(contentOf(canonicalYaml(sealed))?.fingerprint).toBe(fingerprint(compared));
  });

  it.each<readonly [string, JsonObject]>([
    ["other data", { ...sealed, metadata: { name: "a", annotations: { "configbutler.ai/content-digest": "x" } } }],
    ["other recipients", { ...sealed, sops: { age: [{ recipient: "age2" }] } }],
    ["plain data that somebody has committed", { ...sealed, data: { password: "cDQ=" } }],
    ["plain data beside what is encrypted", { ...sealed, data: { password: "ENC[AES256_GCM,data:x]", other: "cDQ=" } }],
    [
      "plain data and no encryption",
      { ...fileOfSecret(secret, { digest, recipients: ["age1"] }).file, data: { password: "cDQ=" } },
    ],
  ])("%s are another file", (_, file) => {
    const { compared } = fileOfSecret(secret, { digest, recipients: ["age1"] });
    expect(contentOf(canonicalYaml(file))?.fingerprint).not.toBe(fingerprint(compared));
  });
});
