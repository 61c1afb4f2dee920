import { type HttpRequest, httpOf, type Request, type Resource, type Watch } from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const deployments: Resource = { ...configMaps, group: "apps", plural: "deployments", kind: "Deployment" };
const clusterRoles: Resource = {
  ...configMaps,
  group: "rbac.authorization.k8s.io",
  plural: "clusterroles",
  kind: "ClusterRole",
  namespaced: false,
};

const http = (request: Request | Watch): HttpRequest => {
  const made = httpOf(request, 5000);
  if (E.isLeft(made)) throw new Error(made.left);
  return made.right;
};
const url = (request: Request | Watch) => new URL(http(request).path, "https://server");
const query = (request: Request) => url(request).searchParams;
const at = { resource: configMaps, namespace: "ns", name: "a" } as const;
const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "ä" } };

describe("a request on the wire", () => {
  it.each<[string, string, Request | Watch]>([
    ["get", "GET /api/v1/namespaces/ns/configmaps/a", { verb: "get", ...at }],
    [
      "get of a subresource",
      "GET /api/v1/namespaces/ns/configmaps/a/status",
      { verb: "get", ...at, subresource: "status" },
    ],
    [
      "get of a cluster-scoped object",
      "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
      { verb: "get", resource: clusterRoles, name: "system:node" },
    ],
    [
      "list in a namespace",
      "GET /apis/apps/v1/namespaces/ns/deployments",
      { verb: "list", resource: deployments, namespace: "ns" },
    ],
    ["list of all namespaces", "GET /apis/apps/v1/deployments", { verb: "list", resource: deployments }],
    ["raw", "GET /apis/apps/v1", { verb: "raw", path: "/apis/apps/v1" }],
  ])("%s is %s, without a body", (_, line, request) => {
    const { method, body, headers } = http(request);
    expect(`${method} ${url(request).pathname}`).toBe(line);
    expect({ body, headers }).toEqual({ body: undefined, headers: [["accept", "application/json"]] });
  });

  it.each<[string, string, string, Extract<Request, { body: object }>]>([
    [
      "create",
      "POST /api/v1/namespaces/ns/configmaps",
      "application/json",
      { verb: "create", resource: configMaps, namespace: "ns", body },
    ],
    [
      "create of a subresource",
      "POST /api/v1/namespaces/ns/configmaps/a/token",
      "application/json",
      { verb: "create", ...at, subresource: "token", body },
    ],
    ["update", "PUT /api/v1/namespaces/ns/configmaps/a", "application/json", { verb: "update", ...at, body }],
    [
      "apply",
      "PATCH /api/v1/namespaces/ns/configmaps/a",
      "application/apply-patch+yaml",
      { verb: "apply", ...at, body, fieldManager: "m", force: true },
    ],
    [
      "merge patch",
      "PATCH /api/v1/namespaces/ns/configmaps/a",
      "application/merge-patch+json",
      { verb: "mergePatch", ...at, body },
    ],
    [
      "strategic merge patch",
      "PATCH /api/v1/namespaces/ns/configmaps/a",
      "application/strategic-merge-patch+json",
      { verb: "strategicMergePatch", ...at, body },
    ],
  ])("%s is %s of %s", (_, line, contentType, request) => {
    const made = http(request);
    expect(`${made.method} ${url(request).pathname}`).toBe(line);
    expect(Object.fromEntries(made.headers)["content-type"]).toBe(contentType);
    expect(JSON.parse(made.body ?? "")).toEqual(body);
  });

  it("names the page that a list goes on with", () => {
    const request: Request = {
      verb: "list",
      resource: configMaps,
      limit: 500,
      continue: "a+b/=",
      labelSelector: "a in (b,c)",
      fieldSelector: "metadata.name=x",
      resourceVersion: "0",
    };
    expect(Object.fromEntries(url(request).searchParams)).toEqual({
      limit: "500",
      continue: "a+b/=",
      labelSelector: "a in (b,c)",
      fieldSelector: "metadata.name=x",
      resourceVersion: "0",
    });
  });

  it("asks a watch for bookmarks", () => {
    const request: Watch = { verb: "watch", resource: configMaps, resourceVersion: "7", timeoutSeconds: 60 };
    expect(Object.fromEntries(url(request).searchParams)).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: "7",
      timeoutSeconds: "60",
    });
  });

  it("bounds every write on the server, with the client's timeout unless it has its own", () => {
    expect(query({ verb: "update", ...at, body }).get("timeout")).toBe("5000ms");
    expect(query({ verb: "update", ...at, body, timeout: 1500 }).get("timeout")).toBe("1500ms");
    expect(query({ verb: "delete", ...at, timeout: 0.2 }).get("timeout")).toBe("1ms");
    expect(query({ verb: "create", resource: configMaps, namespace: "ns", body, dryRun: true }).get("timeout")).toBe(
      "5000ms",
    );
    expect(query({ verb: "get", ...at }).get("timeout")).toBeNull();
  });

  it("says dry run, manager, validation and force in the query", () => {
    const request: Request = {
      verb: "apply",
      ...at,
      body,
      dryRun: true,
      fieldManager: "janus x",
      fieldValidation: "Strict",
      force: false,
    };
    expect(Object.fromEntries(url(request).searchParams)).toEqual({
      timeout: "5000ms",
      dryRun: "All",
      fieldManager: "janus x",
      fieldValidation: "Strict",
      force: "false",
    });
    expect(url({ verb: "update", ...at, body, dryRun: false }).searchParams.has("dryRun")).toBe(false);
  });

  it("is DELETE of the object", () => {
    const made = http({ verb: "delete", ...at });
    expect(made.method).toBe("DELETE");
    expect(made.path).toBe("/api/v1/namespaces/ns/configmaps/a?timeout=5000ms");
  });

  it("puts the preconditions, the grace period and the dry run of a delete in its body, where the server looks for them", () => {
    const request: Request = {
      verb: "delete",
      ...at,
      preconditions: { uid: "u", resourceVersion: "7" },
      gracePeriodSeconds: 0,
      propagationPolicy: "Foreground",
      dryRun: true,
    };
    expect(JSON.parse(http(request).body ?? "")).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: "u", resourceVersion: "7" },
      gracePeriodSeconds: 0,
      propagationPolicy: "Foreground",
      dryRun: ["All"],
    });
    expect(JSON.parse(http({ verb: "delete", ...at }).body ?? "")).toEqual({ apiVersion: "v1", kind: "DeleteOptions" });
  });

  it("impersonates with one header for each group, and keys that a header name can hold", () => {
    const as = { user: "jürgen", groups: ["g1", "g2"], extra: { "janus.io/fence": "a/3", "a(b)": "c" } };
    expect(http({ verb: "get", ...at, as }).headers).toEqual([
      ["accept", "application/json"],
      ["impersonate-user", Buffer.from("jürgen").toString("latin1")],
      ["impersonate-group", "g1"],
      ["impersonate-group", "g2"],
      ["impersonate-extra-janus.io%2Ffence", "a/3"],
      ["impersonate-extra-a%28b%29", "c"],
    ]);
  });

  it.each<[string, Request]>([
    ["an empty name would make a delete one of all objects", { verb: "delete", ...at, name: "" }],
    ["an empty namespace", { verb: "get", ...at, namespace: "" }],
    ["a name that climbs the path", { verb: "get", ...at, name: ".." }],
    ["a name that has a path of its own", { verb: "get", ...at, name: "a/status" }],
    ["a name that is percent-encoded already", { verb: "get", ...at, name: "a%2Fb" }],
    ["no namespace for a namespaced object", { verb: "get", resource: configMaps, name: "a" }],
    ["no namespace for a namespaced object to be created", { verb: "create", resource: configMaps, body }],
    ["a namespace for a cluster-scoped object", { verb: "get", resource: clusterRoles, namespace: "ns", name: "a" }],
    ["an empty user would make an impersonation none", { verb: "get", ...at, as: { user: "" } }],
    ["a user whose name would be trimmed", { verb: "get", ...at, as: { user: " admin" } }],
    [
      "a group whose name ends the header",
      { verb: "get", ...at, as: { user: "u", groups: ["a\r\nimpersonate-group: system:masters"] } },
    ],
    ["a subresource of nothing", { verb: "create", resource: configMaps, namespace: "ns", subresource: "token", body }],
  ])("is not made of what would mean something else: %s", (_, request) => {
    expect(E.isLeft(httpOf(request, 5000))).toBe(true);
  });

  it("carries every legal name through the path", () => {
    // https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names
    const name = fc
      .string({ minLength: 1, unit: "grapheme" })
      .filter((text) => text !== "." && text !== ".." && !/[/%]/.test(text));
    fc.assert(
      fc.property(name, name, (namespace, name) => {
        const segments = url({ verb: "get", resource: configMaps, namespace, name }).pathname.split("/");
        expect(segments.map(decodeURIComponent)).toEqual([
          "",
          "api",
          "v1",
          "namespaces",
          namespace,
          "configmaps",
          name,
        ]);
      }),
    );
  });

  it("has header names that HTTP allows and that the server can undo, for every extra key", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (key) => {
        const [name = ""] = http({ verb: "get", ...at, as: { user: "u", extra: { [key]: "v" } } }).headers.at(-1) ?? [];
        expect(name).toMatch(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/);
        expect(decodeURIComponent(name.slice("impersonate-extra-".length))).toBe(key);
      }),
    );
  });

  it("sends any JSON body unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const made = http({ verb: "update", ...at, body: { value } });
        expect(JSON.parse(made.body ?? "")).toEqual(JSON.parse(JSON.stringify({ value })));
      }),
    );
  });
});
