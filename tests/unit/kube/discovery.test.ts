import { type Api, type ApiError, discovery, type KubeObject, listable, type Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { manualClock } from "./manual-clock.ts";

const list = (...resources: readonly object[]): E.Either<ApiError, KubeObject> =>
  E.right({ apiVersion: "v1", kind: "APIResourceList", metadata: {}, resources });
const error = (code: number): E.Either<ApiError, KubeObject> =>
  E.left({ type: "refused", code, reason: "", message: `HTTP ${code}`, causes: [] });
const apps = list(
  { name: "deployments", kind: "Deployment", namespaced: true },
  { name: "deployments/scale", kind: "Scale", namespaced: true },
  { name: "deployments/status", kind: "Deployment", namespaced: true },
  { name: "controllerrevisions", kind: "ControllerRevision", namespaced: true },
);

const served = (...apiVersions: readonly string[]): E.Either<ApiError, KubeObject> =>
  E.right({
    apiVersion: "v1",
    kind: "APIGroupList",
    metadata: {},
    groups: apiVersions.map((groupVersion) => ({ versions: [{ groupVersion }] })),
  });

const bench = (special: Record<string, E.Either<ApiError, KubeObject>>) => {
  const answers: Record<string, E.Either<ApiError, KubeObject>> = {
    "/api": E.right({ apiVersion: "v1", kind: "APIVersions", metadata: {}, versions: ["v1"] }),
    "/apis": served(),
    ...special,
  };
  const asked: string[] = [];
  const api: Api = {
    send: (request: Request) => {
      const path = request.verb === "raw" ? request.path : "?";
      asked.push(path);
      const of = path.split("/").length > 2 ? { groupVersion: path.replace(/^\/apis?\//, "") } : {};
      return Promise.resolve(E.map((answer: KubeObject) => ({ ...of, ...answer }))(answers[path] ?? error(404)));
    },
    watch: () => {
      throw new Error("nothing to watch");
    },
  };
  const clock = manualClock();
  return { ...discovery(api, clock), api, clock, asked, answers };
};

const kinds = (...all: readonly (readonly [group: string, version: string, kind: string])[]) =>
  E.right({
    apiVersion: "apidiscovery.k8s.io/v2",
    kind: "APIGroupDiscoveryList",
    metadata: {},
    items: all.map(([name, version, kind]) => ({
      metadata: { name },
      versions: [
        {
          version,
          resources: [
            { resource: `${kind.toLowerCase()}s`, responseKind: { kind }, scope: "Namespaced", verbs: ["list"] },
          ],
        },
      ],
    })),
  });

const as = (kind: string, ...apiVersions: readonly string[]) => apiVersions.map((apiVersion) => ({ apiVersion, kind }));

describe("discovery", () => {
  it("has nobody wait for what another group asks", async () => {
    const { resource, api } = bench({ "/apis/apps/v1": apps });
    const hangs: Api = { ...api, send: () => new Promise(() => {}) };
    void resource("apps/v1", "Deployment", { group: "a", api: hangs });
    expect(await resource("apps/v1", "Deployment", { group: "b", api })).toMatchObject(
      E.right({ plural: "deployments" }),
    );
  });

  it.each([
    [["create"], true],
    [["get", "list"], true],
    [["create", "delete", "get", "patch", "update"], undefined],
    [["get", "patch"], undefined],
    [undefined, undefined],
  ])("tells a kind of which nothing is kept by its verbs: %j", async (verbs, isVirtual) => {
    const { resource } = bench({ "/api/v1": list({ name: "things", kind: "Thing", namespaced: true, verbs }) });
    const found = await resource("v1", "Thing");
    expect(E.isRight(found) && found.right.isVirtual).toBe(isVirtual);
  });

  it("finds plural, scope, and whether the status is a subresource", async () => {
    const { resource } = bench({
      "/apis/apps/v1": apps,
      "/api/v1": list({ name: "nodes", kind: "Node", namespaced: false }),
    });
    expect(await resource("apps/v1", "Deployment")).toEqual(
      E.right({
        group: "apps",
        version: "v1",
        plural: "deployments",
        kind: "Deployment",
        namespaced: true,
        statusSubresource: true,
      }),
    );
    expect(await resource("apps/v1", "ControllerRevision")).toMatchObject(E.right({ statusSubresource: false }));
    expect(await resource("v1", "Node")).toMatchObject(E.right({ group: "", plural: "nodes", namespaced: false }));
  });

  it("forgets group versions that were not requested lately, however many are invented", async () => {
    const { resource, asked } = bench({ "/apis/apps/v1": apps });
    await resource("apps/v1", "Deployment");
    for (let n = 0; n < 1000; n += 1) {
      await resource(`invented-${n}/v1`, "Thing");
      await resource("apps/v1", "Deployment");
    }
    expect(asked.filter((path) => path === "/apis/apps/v1")).toHaveLength(1);
    await resource("invented-999/v1", "Thing");
    await resource("invented-0/v1", "Thing");
    expect(asked.filter((path) => path === "/apis/invented-999/v1")).toHaveLength(1);
    expect(asked.filter((path) => path === "/apis/invented-0/v1")).toHaveLength(2);
  });

  it("asks for none that cannot be one, and repeats only its beginning", async () => {
    const { resource, asked } = bench({});
    const answer = await resource(`${"x".repeat(100_000)}/v1`, "Thing");
    expect(asked).toEqual([]);
    expect(JSON.stringify(answer).length).toBeLessThan(1000);
  });

  it("asks once for a group version, also for look-ups at the same time", async () => {
    const { resource, asked } = bench({ "/apis/apps/v1": apps });
    await Promise.all([resource("apps/v1", "Deployment"), resource("apps/v1", "ControllerRevision")]);
    await resource("apps/v1", "Deployment");
    expect(asked).toEqual(["/apis/apps/v1"]);
  });

  it.each([
    ["apps/v1", "Scale", "no kind Scale in apps/v1"],
    ["apps/v1", "deployment", "did you mean Deployment?"],
    ["apps/v1", "deployments", "did you mean Deployment?"],
    ["nope.io/v1", "Nope", "does not serve nope.io/v1"],
    ["a/b/c", "Nope", "no apiVersion"],
    ["/v1", "Nope", "no apiVersion"],
    ["", "Nope", "no apiVersion"],
  ])("says of %s %s that it is unknown: %s", async (apiVersion, kind, message) => {
    const { resource } = bench({ "/apis/apps/v1": apps });
    expect(await resource(apiVersion, kind)).toEqual(
      E.left({ type: "unknown", message: expect.stringContaining(message) }),
    );
  });

  it("finds a kind that comes later, but asks for it at most once a second", async () => {
    const { resource, asked, answers, clock } = bench({});
    for (let at = 0; at < 5; at += 1) await resource("new.io/v1", "New");
    expect(asked).toEqual(["/apis/new.io/v1", "/apis"]);
    answers["/apis/new.io/v1"] = list({ name: "news", kind: "New", namespaced: true });
    await clock.pass(999);
    expect(E.isRight(await resource("new.io/v1", "New"))).toBe(false);
    await clock.pass(1);
    expect(E.isRight(await resource("new.io/v1", "New"))).toBe(true);
    expect(asked).toHaveLength(3);
  });

  it.each<[string, Record<string, E.Either<ApiError, KubeObject>>]>([
    ["a 404 of a version that the API server serves", { "/apis": served("apps/v1") }],
    ["a 404 of everything, as of a proxy", { "/apis": error(404), "/api": error(404) }],
    ["a 404 while the list cannot be had", { "/apis": error(503), "/api": error(503) }],
    ["another object in place of the list", { "/apis": apps, "/api": apps }],
    ["another object in place of the kinds", { "/apis/apps/v1": served(), "/api/v1": served() }],
  ])("does not say of a kind that it is unknown on %s", async (_, answers) => {
    const { resource } = bench({ "/api/v1": error(404), ...answers });
    const known = E.left(expect.not.objectContaining({ type: "unknown" }));
    expect(await resource("apps/v1", "Deployment")).toEqual(known);
    expect(await resource("v1", "Pod")).toEqual(known);
  });

  it("does not take silence for an answer, and asks again next time", async () => {
    const { resource, answers } = bench({ "/apis/apps/v1": error(503) });
    expect(await resource("apps/v1", "Deployment")).toMatchObject(E.left({ type: "refused", code: 503 }));
    answers["/apis/apps/v1"] = apps;
    expect(E.isRight(await resource("apps/v1", "Deployment"))).toBe(true);
  });

  it.each([
    ["a list of objects", { apiVersion: "v1", kind: "ConfigMapList", metadata: {}, items: [] }],
    [
      "the kinds of another group version",
      { apiVersion: "v1", kind: "APIResourceList", metadata: {}, groupVersion: "v1" },
    ],
  ])("does not take %s for a group version without kinds", async (_, object) => {
    const { resource, answers } = bench({ "/apis/apps/v1": E.right(object) });
    expect(await resource("apps/v1", "Deployment")).toMatchObject(E.left({ type: "unanswered", cause: "malformed" }));
    answers["/apis/apps/v1"] = apps;
    expect(E.isRight(await resource("apps/v1", "Deployment"))).toBe(true);
  });

  it("of all kinds does not take another object for there being none", async () => {
    const { api } = bench({ "/api": apps, "/apis": apps });
    expect(await listable(api)).toMatchObject(E.left({ type: "unanswered", cause: "malformed" }));
  });

  it("keeps one broken group apart from the others", async () => {
    const { resource, asked } = bench({ "/apis/broken.io/v1": error(503), "/apis/apps/v1": apps });
    await resource("broken.io/v1", "Broken");
    expect(E.isRight(await resource("apps/v1", "Deployment"))).toBe(true);
    expect(asked).toEqual(["/apis/broken.io/v1", "/apis/apps/v1"]);
  });

  it("asks again after ten seconds: a kind may be served in another way by then", async () => {
    const { resource, asked, answers, clock } = bench({
      "/apis/new.io/v1": list({ name: "news", kind: "New", namespaced: true }),
    });
    await resource("new.io/v1", "New");
    answers["/apis/new.io/v1"] = list({ name: "newes", kind: "New", namespaced: false });
    await clock.pass(9_999);
    expect(await resource("new.io/v1", "New")).toMatchObject(E.right({ plural: "news" }));
    await clock.pass(1);
    expect(await resource("new.io/v1", "New")).toMatchObject(E.right({ plural: "newes", namespaced: false }));
    expect(asked).toHaveLength(2);
  });

  it("names the versions in which a kind is served: of its group first, or else of others", async () => {
    const { servedIn } = bench({
      "/api": kinds(["", "v1", "Service"]),
      "/apis": kinds(
        ["serving.dev", "v1", "Service"],
        ["networking.k8s.io", "v1", "Ingress"],
        ["apps", "v1", "Deployment"],
      ),
    });
    expect(await servedIn("apps/v1beta1", "Deployment")).toEqual(as("Deployment", "apps/v1"));
    expect(await servedIn("extensions/v1beta1", "Ingress")).toEqual(as("Ingress", "networking.k8s.io/v1"));
    expect(await servedIn("v2", "Service")).toEqual(as("Service", "v1"));
    expect(await servedIn("nowhere/v2", "Service")).toEqual(as("Service", "v1", "serving.dev/v1"));
    expect(await servedIn("v1", "Nothing")).toEqual([]);
  });

  it("names a kind that differs only by case, or has the name as its plural, where none has the name itself", async () => {
    const { servedIn } = bench({
      "/api": kinds(["", "v1", "Service"]),
      "/apis": kinds(["serving.dev", "v1", "SERVICE"], ["apps", "v1", "Deployment"]),
    });
    expect(await servedIn("v1", "service")).toEqual(as("Service", "v1"));
    expect(await servedIn("serving.dev/v2", "Service")).toEqual(as("Service", "v1"));
    expect(await servedIn("v1", "deployments")).toEqual(as("Deployment", "apps/v1"));
  });

  it("lists all kinds once for many that are not served, and again after ten seconds", async () => {
    const { servedIn, asked, answers, clock } = bench({ "/api": kinds(), "/apis": kinds() });
    await Promise.all(["A", "B", "C"].map((kind) => servedIn("v1", kind)));
    await servedIn("v1", "D");
    expect(asked).toEqual(["/api", "/apis"]);
    answers["/apis"] = kinds(["apps", "v1", "A"]);
    await clock.pass(10_000);
    expect(await servedIn("v1", "A")).toEqual(as("A", "apps/v1"));
    answers["/apis"] = error(503);
    await clock.pass(10_000);
    expect(await servedIn("v1", "A")).toEqual([]);
  });
});
