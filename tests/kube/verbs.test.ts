import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { discovery, type KubeObject, listAll, type Resource } from "@janus/kube";
import { configMaps, secrets } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { kubectl } from "../fixtures/cluster.ts";
import { configMap, refused, right, sharedClient } from "./client.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const api = sharedClient();
const { resource } = discovery(api);
let namespace = "";
beforeAll(async () => {
  namespace = await freshNamespace();
});

const create = async (name: string, fields: object = {}): Promise<KubeObject> =>
  right(await api.send({ verb: "create", resource: configMaps, namespace, body: configMap(name, fields) }));
const get = (name: string) => api.send({ verb: "get", resource: configMaps, namespace, name });
const at = (name: string) => ({ resource: configMaps, namespace, name });

describe("every verb carries every field, both ways", () => {
  // client-node's types call this field _from, and lose it.
  const spec = {
    podSelector: {},
    ingress: [{ from: [{ podSelector: { matchLabels: { a: "b" } } }] }],
    policyTypes: ["Ingress"],
  };

  it("a NetworkPolicy keeps its `from`", async () => {
    const policies = right(await resource("networking.k8s.io/v1", "NetworkPolicy"));
    const body = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "p" }, spec };
    const to = { resource: policies, namespace, name: "p" };
    expect(right(await api.send({ verb: "create", resource: policies, namespace, body }))).toMatchObject({ spec });
    const read = right(await api.send({ verb: "get", ...to }));
    expect(read).toMatchObject({ spec });
    expect(right(await api.send({ verb: "update", ...to, body: read }))).toEqual(read);
    expect(right(await api.send({ verb: "apply", ...to, body, fieldManager: "m", force: true }))).toMatchObject({
      spec,
    });
    const patch = { metadata: { labels: { x: "y" } } };
    expect(right(await api.send({ verb: "mergePatch", ...to, body: patch }))).toMatchObject({ spec, ...patch });
    const { items } = right(await listAll(api, { resource: policies, namespace }));
    expect(items).toMatchObject([{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", spec }]);
    expect(right(await api.send({ verb: "delete", ...to, propagationPolicy: "Foreground" })).metadata).toBeDefined();
  });

  it("a CustomResourceDefinition keeps its `enum`", async () => {
    const definitions = right(await resource("apiextensions.k8s.io/v1", "CustomResourceDefinition"));
    const group = `${randomBytes(5).toString("hex")}.example`;
    const name = `colours.${group}`;
    const properties = { hue: { type: "string", enum: ["red", "blue"], default: "red" } };
    const body = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name },
      spec: {
        group,
        names: { plural: "colours", kind: "Colour" },
        scope: "Cluster",
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties } } },
        ],
      },
    };
    afterAll(() => kubectl("delete", "crd", name, "--wait=false"));
    right(await api.send({ verb: "create", resource: definitions, body }));
    const path = { spec: { versions: [{ schema: { openAPIV3Schema: { properties } } }] } };
    const read = right(await api.send({ verb: "get", resource: definitions, name }));
    expect(read).toMatchObject(path);
    const written = await api.send({
      verb: "apply",
      resource: definitions,
      name,
      body,
      fieldManager: "m",
      force: true,
    });
    expect(right(written)).toMatchObject(path);
  });

  it("text in any script, and what only looks like something else", async () => {
    const data = { text: "ä€😀\u2028\\u0000", yaml: "a: [1]\n", number: "1e3", empty: "" };
    const made = await create("text", { data });
    expect(made).toMatchObject({ data });
    expect(right(await api.send({ verb: "update", ...at("text"), body: made }))).toEqual(made);
  });

  it("objects whose names have colons", async () => {
    const roles = right(await resource("rbac.authorization.k8s.io/v1", "ClusterRole"));
    expect(right(await api.send({ verb: "get", resource: roles, name: "system:basic-user" }))).toMatchObject({
      metadata: { name: "system:basic-user" },
    });
  });

  it("lists of many pages, without a gap or a double", async () => {
    const names = Array.from({ length: 40 }, (_, n) => `page-${n + 10}`);
    await Promise.all(names.map((name) => create(name)));
    const all = right(
      await listAll(api, {
        resource: configMaps,
        namespace,
        fieldSelector: "metadata.name!=kube-root-ca.crt",
      }),
    );
    expect(all.items.map(({ metadata }) => metadata.name).filter((name) => name?.startsWith("page-"))).toEqual(names);
    expect(Number(all.resourceVersion)).toBeGreaterThan(0);
  });
});

const apply = (fieldManager: string, data: object) =>
  api.send({ verb: "apply", ...at("owned"), body: configMap("owned", { data }), fieldManager, force: false });

describe("a precondition that does not hold", () => {
  it.each([{ uid: "00000000-0000-0000-0000-000000000000" }, { resourceVersion: "1" }])(
    "refuses a delete with 409: %j",
    async (preconditions) => {
      const { metadata } = await create(`pre-${randomBytes(4).toString("hex")}`);
      const to = at(metadata.name ?? "");
      expect(await api.send({ verb: "delete", ...to, preconditions })).toEqual(
        refused(409, "Conflict", "precondition"),
      );
      const { uid = "", resourceVersion = "" } = metadata;
      right(await api.send({ verb: "delete", ...to, preconditions: { uid, resourceVersion } }));
    },
  );

  it("refuses an update, an apply and a merge patch with 409", async () => {
    const { metadata } = await create("moved");
    right(await api.send({ verb: "mergePatch", ...at("moved"), body: { data: { by: "somebody" } } }));
    const { uid, resourceVersion } = metadata;
    const body = configMap("moved", { data: { by: "us" } }, { uid, resourceVersion });
    expect(await api.send({ verb: "update", ...at("moved"), body })).toEqual(refused(409, "Conflict"));
    expect(await api.send({ verb: "apply", ...at("moved"), body, fieldManager: "m", force: true })).toEqual(
      refused(409, "Conflict"),
    );
    expect(await api.send({ verb: "mergePatch", ...at("moved"), body })).toEqual(refused(409, "Conflict"));
    expect(right(await get("moved"))).toMatchObject({ data: { by: "somebody" } });
  });

  it("tells a conflict of field managers apart, field by field", async () => {
    await create("owned");
    right(await apply("one", { a: "1" }));
    expect(await apply("two", { a: "2" })).toEqual(
      E.left(
        expect.objectContaining({
          code: 409,
          causes: [expect.objectContaining({ reason: "FieldManagerConflict", field: ".data.a" })],
        }),
      ),
    );
  });
});

describe("a dry run", () => {
  it("answers as if, and changes nothing, whatever the verb", async () => {
    const before = await create("dry", { data: { a: "1" } });
    const body = configMap("dry", { data: { a: "2" } });
    const dryRun = true;
    const said = [
      await api.send({ verb: "update", ...at("dry"), body, dryRun }),
      await api.send({ verb: "apply", ...at("dry"), body, fieldManager: "m", force: true, dryRun }),
      await api.send({ verb: "mergePatch", ...at("dry"), body, dryRun }),
    ];
    expect(said.map(right)).toMatchObject([{ data: { a: "2" } }, { data: { a: "2" } }, { data: { a: "2" } }]);
    right(await api.send({ verb: "delete", ...at("dry"), dryRun }));
    right(await api.send({ verb: "create", resource: configMaps, namespace, body: configMap("dry-new"), dryRun }));
    expect(right(await get("dry"))).toEqual(before);
    expect(await get("dry-new")).toEqual(refused(404, "NotFound"));
  });
});

describe("validation", () => {
  it("refuses fields that nobody knows, when asked to", async () => {
    const body = configMap("strict", { datum: {} });
    const strict = { verb: "create", resource: configMaps, namespace, body, fieldValidation: "Strict" } as const;
    expect(await api.send(strict)).toEqual(refused(400, "BadRequest", "unknown field"));
  });

  it("says which field is wrong", async () => {
    const reply = await api.send({ verb: "create", resource: configMaps, namespace, body: configMap("Not_A_Name") });
    expect(reply).toEqual(
      E.left(
        expect.objectContaining({
          code: 422,
          reason: "Invalid",
          causes: [expect.objectContaining({ field: "metadata.name" })],
        }),
      ),
    );
  });
});

describe("impersonation", () => {
  it("makes the request as this user, with these groups and these extras", async () => {
    const reviews: Resource = {
      ...configMaps,
      group: "authentication.k8s.io",
      plural: "selfsubjectreviews",
      kind: "SelfSubjectReview",
      namespaced: false,
    };
    const as = {
      user: "system:serviceaccount:ns:jürgen",
      groups: ["system:masters", "a b"],
      extra: { "janus.io/fence": "holder/3", plain: "x" },
    };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    expect(right(await api.send({ verb: "create", resource: reviews, body, as }))).toMatchObject({
      status: {
        userInfo: {
          username: "system:serviceaccount:ns:jürgen",
          groups: ["system:masters", "a b", "system:authenticated"],
          extra: { "janus.io/fence": ["holder/3"], plain: ["x"] },
        },
      },
    });
  });

  it("is refused to whom that user's rights do not allow it", async () => {
    const as = { user: "nobody" };
    expect(await api.send({ verb: "get", ...at("kube-root-ca.crt"), as })).toEqual(
      refused(403, "Forbidden", 'User "nobody" cannot get'),
    );
  });
});

describe("time", () => {
  it("runs out on the server: 504, before the client gives up", async () => {
    const { port, close } = await blackHole();
    const webhooks = right(await resource("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"));
    const name = `black-hole-${namespace}`;
    const body = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name },
      webhooks: [
        {
          name: "black.hole.example",
          clientConfig: { url: `https://127.0.0.1:${port}/` },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
        },
      ],
    };
    right(await api.send({ verb: "create", resource: webhooks, body }));
    onTestFinished(async () => {
      await api.send({ verb: "delete", resource: webhooks, name });
      close();
    });
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { generateName: "s-" } };
    const slow = () => api.send({ verb: "create", resource: secrets, namespace, body: secret, timeout: 300 });
    await expect.poll(slow).toEqual(refused(504, "Timeout"));
  });

  it("is understood in milliseconds", async () => {
    expect(E.isRight(await api.send({ verb: "mergePatch", ...at("kube-root-ca.crt"), body: {}, timeout: 4321 }))).toBe(
      true,
    );
  });
});

/** Takes connections, and never answers. */
const blackHole = async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { port: typeof address === "object" ? (address?.port ?? 0) : 0, close: () => server.close() };
};
