// Tests which changes bring a live object to what its file in Git says, and that nothing else is touched.
import { asObject, isObject, type Json, type JsonObject, type KubeObject, without } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as O from "fp-ts/lib/Option.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FilesOfCommit, filesOfCommit } from "../../../packages/git-journal/src/core/files-of-commit.ts";
import {
  changeTo,
  conflicting,
  goalsOf,
  goalsOfRevert,
  isConflict,
  type ObjectChange,
} from "../../../packages/git-journal/src/core/from-git.ts";
import { isPathInNamespace, objectFile, statedFields } from "../../../packages/git-journal/src/core/object-file.ts";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { sanitised } from "../../../packages/git-journal/src/core/sanitise.ts";
import { json } from "./arbitrary-object.ts";
import { right } from "./right.ts";

/** How the API server merges the lists and maps of these names; all other maps are merged. */
const KEYED = new Set(["containers", "env"]);
const SETS = new Set(["tags"]);
const WHOLE = new Set(["selector"]);

const nameOf = (item: Json): Json | undefined => (isObject(item) ? item["name"] : undefined);

const mapped = (object: JsonObject, change: (value: Json, name: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));

/** What the API server manages of a value that somebody has set. */
const managed = (value: Json, name: string): JsonObject => {
  if (isObject(value) && !WHOLE.has(name))
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [`f:${field}`, managed(inner, field)]));
  if (!Array.isArray(value)) return {};
  if (SETS.has(name)) return Object.fromEntries(value.map((item) => [`v:${JSON.stringify(item)}`, {}]));
  if (!KEYED.has(name)) return {};
  return Object.fromEntries(
    value.map((item) => [`k:${JSON.stringify({ name: nameOf(item) })}`, { ".": {}, ...managed(item, "item") }]),
  );
};

/** What a Patch makes of a value. */
const patched = (live: Json | undefined, content: Json, name: string): Json => {
  if (isObject(live) && isObject(content) && !WHOLE.has(name))
    return {
      ...live,
      ...mapped(content, (value, field) => patched(Object.hasOwn(live, field) ? live[field] : undefined, value, field)),
    };
  if (!Array.isArray(live) || !Array.isArray(content)) return content;
  if (SETS.has(name)) return [...live, ...content.filter((item) => !live.includes(item))];
  if (!KEYED.has(name)) return content;
  const items = live.map((item) => {
    const own = content.find((other) => nameOf(other) === nameOf(item));
    return own === undefined ? item : patched(item, own, "item");
  });
  return [...items, ...content.filter((item) => !live.some((other) => nameOf(other) === nameOf(item)))];
};

/** What Janus and the API server make of a change. */
const changed = (live: KubeObject, { type, content = {} }: ObjectChange): KubeObject => {
  if (type === "Patch") return patched(live as unknown as JsonObject, content, "") as unknown as KubeObject;
  const { apiVersion, kind, metadata, status } = live;
  const { metadata: named, ...fields } = content;
  const kept = status === undefined ? {} : { status };
  return { ...kept, ...fields, apiVersion, kind, metadata: { ...metadata, ...(isObject(named) ? named : {}) } };
};

const word = fc.constantFrom("a", "b", "c", "web", "1.27", "__proto__", "");
const words = fc.dictionary(word, word, { maxKeys: 3 });
const named = <A extends object>(more: fc.Arbitrary<A>) =>
  fc.uniqueArray(
    fc.tuple(fc.constantFrom("a", "b", "web"), more).map(([name, rest]) => ({ ...rest, name })),
    { maxLength: 3, selector: ({ name }) => name },
  );
const some = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined });

const spec = fc
  .record({
    replicas: some(fc.nat({ max: 3 })),
    selector: some(words),
    args: some(fc.array(word, { maxLength: 3 })),
    tags: some(fc.uniqueArray(word, { maxLength: 3 })),
    containers: some(named(fc.record({ image: word, env: named(fc.record({ value: word })) }))),
    free: some(json),
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)) as JsonObject);

/** What of a live object no file has. */
const OWN = {
  uid: "u",
  resourceVersion: "7",
  finalizers: ["a/b"],
  ownerReferences: [{ apiVersion: "v1", kind: "Thing", name: "owner", uid: "o" }],
};
const NOISE = { "kubectl.kubernetes.io/last-applied-configuration": "{}", "deployment.kubernetes.io/revision": "3" };

const metadata = fc.record({ labels: some(words), annotations: some(words) });

const stated = fc.tuple(metadata, some(spec), some(words)).map(
  ([{ labels, annotations }, spec, data]): KubeObject => ({
    apiVersion: "v1",
    kind: "Thing",
    metadata: {
      name: "a",
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(spec === undefined ? {} : { spec }),
    ...(data === undefined ? {} : { data }),
  }),
);

/** @param isUnknown of a field: nobody manages it */
const asLive = (object: KubeObject, isUnknown: (field: string) => boolean): KubeObject => {
  const { labels, annotations } = object.metadata;
  const metadata = { ...(labels === undefined ? {} : { labels }), annotations: { ...annotations, ...NOISE } };
  const all = managed({ ...(object as unknown as JsonObject), metadata: metadata as JsonObject }, "");
  const fieldsV1 = without(all, ["f:apiVersion", "f:kind", ...Object.keys(all).filter(isUnknown)]);
  return {
    ...object,
    status: { ready: true },
    metadata: {
      ...object.metadata,
      ...OWN,
      ...metadata,
      managedFields: [{ manager: "x", apiVersion: "v1", fieldsV1 }],
    },
  };
};

const deployment = (image: string, more: JsonObject = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    replicas: 2,
    template: {
      spec: {
        containers: [
          { name: "log", image: "log" },
          { name: "web", image, ...more },
        ],
      },
    },
  },
});
const live = (object: KubeObject): KubeObject => {
  const { apiVersion } = object;
  const fieldsV1 = without(managed(object as unknown as JsonObject, ""), ["f:apiVersion", "f:kind", "f:metadata"]);
  return { ...object, metadata: { ...object.metadata, managedFields: [{ manager: "x", apiVersion, fieldsV1 }] } };
};
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "shop" };
const changeOf = (wanted: KubeObject | undefined, is: KubeObject | undefined) =>
  O.toUndefined(right(changeTo({ wanted, live: is })));

const service = (fields: JsonObject, spec: JsonObject): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "shop", ...fields },
  spec,
});

const role = (rules: JsonObject[], labels = {}): KubeObject => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "all", labels },
  aggregationRule: { clusterRoleSelectors: [] },
  rules,
});

/** The same object with some values changed, fields added or left out, and lists turned round, as these numbers say. */
const varied = (object: KubeObject, numbers: readonly number[]): KubeObject => {
  let at = 0;
  const next = (): number => numbers[at++ % numbers.length] ?? 0;
  const vary = (value: Json): Json => {
    if (typeof value === "string") return next() < 3 ? `${value}x` : value;
    if (Array.isArray(value)) return next() === 9 ? value.map(vary).toReversed() : value.map(vary);
    if (!isObject(value)) return value;
    const fields = Object.entries(mapped(value, (inner, name) => (name === "name" ? inner : vary(inner))));
    const n = next();
    return Object.fromEntries(n === 9 ? fields.slice(1) : n === 8 ? [...fields, ["added", "x"]] : fields);
  };
  const { metadata, apiVersion, kind, ...fields } = object;
  return { ...asObject(vary(asObject(fields))), apiVersion, kind, metadata };
};

const pairs = fc.oneof(
  fc.tuple(stated, stated),
  fc
    .tuple(stated, fc.array(fc.nat({ max: 12 }), { minLength: 7, maxLength: 31 }))
    .map(([one, numbers]) => [one, varied(one, numbers)] as const),
);

const unknown = fc.subarray(["f:spec", "f:data", "f:metadata"]);

/** What Kubernetes makes in every namespace, with these fields. */
const everywhere = (kind: string, name: string, fields: JsonObject = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "shop" },
  ...fields,
});

describe("a change", () => {
  it("after it, the live object says what the file says, and all that no file has is as it was", () => {
    fc.assert(
      fc.property(pairs, unknown, ([wanted, is], fields) => {
        const live = asLive(is, (field) => fields.includes(field));
        const change = right(changeTo({ wanted, live }));
        const after = O.isSome(change) ? changed(live, change.value) : live;
        expect(statedFields(after)).toEqual(statedFields(wanted));
        expect(after.metadata).toMatchObject({ ...OWN, annotations: NOISE });
        expect(after["status"]).toEqual({ ready: true });
        expect(O.isSome(change)).toBe(canonicalYaml(sanitised(wanted)) !== canonicalYaml(sanitised(live)));
      }),
      { numRuns: 500 },
    );
  });

  it("of an image is a Patch of that image alone", () => {
    expect(changeOf(deployment("web:1"), live(deployment("web:2")))).toEqual({
      target,
      type: "Patch",
      content: { spec: { template: { spec: { containers: [{ name: "web", image: "web:1" }] } } } },
    });
  });

  it.each([
    ["a field goes", deployment("web:1"), deployment("web:1", { command: ["x"] })],
    ["null would remove", deployment("web:1", { command: null }), deployment("web:1", { command: "x" })],
  ])("is an Update where %s", (_, wanted, is) => {
    expect(changeOf(wanted, live(is))).toMatchObject({ target, type: "Update", content: { spec: wanted["spec"] } });
  });

  it("is an Update where it is not known how a list is merged", () => {
    expect(changeOf(deployment("web:1"), deployment("web:2"))).toMatchObject({ type: "Update" });
  });

  it("keeps in an Update what the cluster itself has set", () => {
    const is = service(
      { labels: { app: "web" }, annotations: { a: "b", ...NOISE } },
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], sessionAffinity: "None", ports: [{ port: 80 }] },
    );
    expect(changeOf(service({}, { ports: [{ port: 80 }] }), is)?.content).toEqual({
      metadata: { labels: {}, annotations: NOISE },
      spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ports: [{ port: 80 }] },
    });
  });

  it("leaves the rules of an aggregated ClusterRole to their controller", () => {
    expect(changeOf(role([{ verbs: ["get"] }]), role([]))).toBeUndefined();
    expect(changeOf(role([{ verbs: ["get"] }], { a: "b" }), role([{ verbs: ["list"] }]))?.content).not.toHaveProperty(
      "rules.0.verbs.0",
      "get",
    );
  });

  it("creates what is not there, with its labels and fields alone", () => {
    const wanted: KubeObject = {
      ...deployment("web:1"),
      metadata: { ...OWN, name: "web", namespace: "shop", labels: { a: "b" } },
    };
    expect(changeOf(wanted, undefined)).toEqual({
      target,
      type: "Create",
      content: { metadata: { labels: { a: "b" } }, spec: deployment("web:1")["spec"] },
    });
  });

  it("is none of what Kubernetes makes first in a namespace, but for what others have made of it", () => {
    const account = everywhere("ServiceAccount", "default");
    const pulling = { ...account, imagePullSecrets: [{ name: "registry" }] };
    const certificates = everywhere("ConfigMap", "kube-root-ca.crt", { data: { "ca.crt": "x" } });
    expect(changeOf(account, undefined)).toBeUndefined();
    expect(changeOf(certificates, undefined)).toBeUndefined();
    expect(changeOf(certificates, { ...certificates, data: { "ca.crt": "y" } })).toBeUndefined();
    expect(changeTo({ wanted: pulling, live: undefined })).toEqual(
      E.left(expect.stringMatching(/^ServiceAccount shop\/default: Kubernetes makes it itself, .* plan again/u)),
    );
    expect(changeOf(pulling, live(account))).toMatchObject({ type: "Patch", content: { imagePullSecrets: [{}] } });
    expect(changeOf(everywhere("ServiceAccount", "web"), undefined)).toMatchObject({ type: "Create" });
  });

  it("deletes what is to go; there is nothing to do where nothing is", () => {
    expect(changeOf(undefined, deployment("web:1"))).toEqual({ target, type: "Delete" });
    expect(changeOf(undefined, undefined)).toBeUndefined();
    expect(changeOf(deployment("web:1"), live(deployment("web:1")))).toBeUndefined();
  });

  it.each<readonly [string, KubeObject, string]>([
    ["a claim", { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "a" } }, "cannot be undone"],
    [
      "the ServiceAccount of each namespace",
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } },
      "every namespace",
    ],
    ["what is being deleted", { ...deployment("x"), metadata: { name: "a", deletionTimestamp: "x" } }, "being deleted"],
    [
      "what its controller would create again",
      {
        ...deployment("x"),
        metadata: {
          name: "a",
          ownerReferences: [
            { ...OWN.ownerReferences[0], apiVersion: "v1", kind: "Thing", name: "owner", uid: "o", controller: true },
          ],
        },
      },
      "Thing owner",
    ],
  ])("does not delete %s, and says why", (_, object, why) => {
    const left = changeTo({ wanted: undefined, live: object });
    expect(E.isLeft(left) && left.left).toContain(why);
  });
});

const file = (name: string, value: string, version = "v1"): readonly [string, string] => [
  `prod/core/${version}/configmaps/shop/${name}.yaml`,
  canonicalYaml({ apiVersion: version, kind: "ConfigMap", metadata: { name, namespace: "shop" }, data: { value } }),
];
const filed = (...files: readonly (readonly [string, string])[]): FilesOfCommit =>
  filesOfCommit(files.map(([path, text]) => [path, objectFile(path, text)]));
const configMap = (name: string, value: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", resourceVersion: "1" },
  data: { value },
});
const secret = (name: string, more: JsonObject = {}): readonly [string, string] => [
  `core/v1/secrets/shop/${name}.yaml`,
  canonicalYaml({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "shop", annotations: { "configbutler.ai/content-digest": "hmac-sha256:x" } },
    type: "Opaque",
    ...more,
  }),
];

describe("going to a commit", () => {
  it("brings its files back, and deletes only what Git has come to have since", () => {
    const goals = goalsOf(filed(file("kept", "1"), file("gone", "1")), filed(file("new", "1")));
    expect(goals.map(({ object, wanted }) => [object.metadata.name, wanted !== undefined])).toEqual([
      ["kept", true],
      ["gone", true],
      ["new", false],
    ]);
  });

  it("takes an object for the same one in another version, or under a path of upstream", () => {
    const [, text] = file("a", "1");
    const moved = filed(["prod/v1/configmaps/shop/a.yaml", text]);
    expect(moved.wrong).toEqual([]);
    expect(goalsOf(filed(file("a", "1")), moved)).toHaveLength(1);
    expect(goalsOf(filed(file("a", "1")), filed(file("a", "1", "v2")))).toHaveLength(1);
  });

  it("leaves a Secret alone of which Git does not have the data, and names it", () => {
    const at = filed(secret("a"));
    expect(goalsOf(at, filed())).toEqual([]);
    expect(at.skipped).toEqual([
      { path: "core/v1/secrets/shop/a.yaml", why: expect.stringContaining("without its data") as string },
    ]);
    expect(filed(secret("a", { data: { x: "ENC[x]" }, sops: {} })).skipped[0]?.why).toContain("SOPS_AGE_KEY_FILE");
    expect(filed(secret("a", { data: { x: "cDQ=" } })).skipped).toEqual([]);
    // It is not deleted either.
    expect(goalsOf(at, filed(secret("a")))).toEqual([]);
    expect(goalsOf(filed(), filed(secret("a")))).toHaveLength(1);
  });
});

describe("taking a commit back", () => {
  it("has the files before it for goals, created and deleted ones too", () => {
    const goals = goalsOfRevert(
      filed(file("edited", "2"), file("new", "1")),
      filed(file("edited", "1"), file("gone", "1")),
    );
    expect(goals.map(({ object, wanted }) => [object.metadata.name, wanted?.["data"]])).toEqual([
      ["edited", { value: "1" }],
      ["gone", { value: "1" }],
      ["new", undefined],
    ]);
  });

  it.each([
    ["as the commit wrote it", configMap("a", "2"), false],
    ["as it was before", configMap("a", "1"), false],
    ["changed since", configMap("a", "3"), true],
    ["deleted since", undefined, true],
  ])("an object is in conflict only if it is neither: %s", (_, live, expected) => {
    const [goal] = goalsOfRevert(filed(file("a", "2")), filed(file("a", "1")));
    expect(goal === undefined ? undefined : isConflict(goal, live)).toBe(expected);
  });

  it("knows nothing of the data of a Secret that Git does not have", () => {
    const live = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "a", namespace: "shop" },
      type: "Opaque",
      data: { x: "cDQ=" },
    };
    const encrypted = secret("a", { data: { x: "ENC[x]" }, sops: { mac: "y" } });
    for (const file of [secret("a"), encrypted]) {
      const [goal] = goalsOfRevert(filed(file), filed());
      expect(goal === undefined ? undefined : isConflict(goal, live)).toBe(false);
      expect(goal === undefined ? undefined : isConflict(goal, { ...live, type: "other" })).toBe(true);
      expect(JSON.stringify(goal === undefined ? "" : conflicting(goal, live))).not.toMatch(/ENC|cDQ|mac/u);
    }
    expect(goalsOfRevert(filed(), filed(secret("a")))).toEqual([]);
  });
});

describe("a file", () => {
  const [path, text] = file("a", "1");
  it.each([
    ["README.md", "x"],
    ["prod/kustomization.yaml", text],
    ["prod/.configbutler/owner.yaml", "apiVersion: configbutler.ai/v1alpha1\nkind: Owner\n"],
    ["charts/shop/templates/web.yaml", "{{ x }}"],
  ])("%s is none of the journal's", (at, content) => {
    expect(objectFile(at, content)).toEqual({ is: "other" });
  });

  it.each([
    ["core/v1/configmaps/shop/a.yaml", true],
    ["clusters/prod/apps/v1/deployments/shop/shop.yaml", true],
    ["clusters/prod/core/v1/namespaces/shop.yaml", true],
    ["v1/namespaces/shop.yaml", true],
    ["core/v1/namespaces/shop-2.yaml", false],
    ["core/v1/configmaps/other/shop.yaml", false],
    ["shop/core/v1/configmaps/other/a.yaml", false],
    ["storage.k8s.io/v1/storageclasses/shop.yaml", false],
  ])("%s is of the namespace shop: %s", (at, expected) => {
    expect(isPathInNamespace(at, "shop")).toBe(expected);
  });

  it.each([
    ["two documents", path, `${text}---\n${text}`, "one Kubernetes object"],
    [
      "a pointer of LFS",
      path,
      "version https://git-lfs.github.com/spec/v1\noid sha256:x\nsize 1\n",
      "one Kubernetes object",
    ],
    ["another name", path, text.replace("name: a", "name: b"), "not the object of its path"],
    ["another namespace", path, text.replace("namespace: shop", "namespace: other"), "not the object of its path"],
    ["another version", path, text.replace("apiVersion: v1", "apiVersion: v2"), "not the object of its path"],
    ["another group", path, text.replace("apiVersion: v1", "apiVersion: x/v1"), "not the object of its path"],
  ])("that has %s is wrong", (_, at, content, why) => {
    expect(objectFile(at, content)).toEqual({ is: "wrong", why: expect.stringContaining(why) as string });
  });

  it("of an object that another file has, too, is wrong", () => {
    const { wrong } = filed(file("a", "1"), [`other/${path}`, text]);
    expect(wrong).toEqual([{ path: `other/${path}`, why: expect.stringContaining(`is in ${path}, too`) as string }]);
  });

  it("of any object is its own, in whatever folder", () => {
    const names = fc.string({ unit: fc.constantFrom("a", "b", "1", "-", ".", ":", "é"), minLength: 1, maxLength: 9 });
    const folders = fc.constantFrom("", "prod/", "clusters/v1/prod/", "v1/");
    fc.assert(
      fc.property(names, folders, (name, folder) => {
        const object = {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          metadata: { name },
          rules: [],
        };
        const own = `${folder}rbac.authorization.k8s.io/v1/clusterroles/${encoded(name)}.yaml`;
        expect(objectFile(own, canonicalYaml(object))).toMatchObject({ is: "object" });
      }),
    );
  });
});

const encoded = (name: string): string => name.replaceAll(":", "%3A").replaceAll("é", "%C3%A9");
