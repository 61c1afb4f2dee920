import { type Api, type ApiError, discovery, type KubeObject, type Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { manualClock } from "./manual-clock.ts";

const list = (...resources: readonly object[]): E.Either<ApiError, KubeObject> =>
  E.right({ apiVersion: "v1", kind: "APIResourceList", metadata: {}, resources });
const error = (code: number): E.Either<ApiError, KubeObject> =>
  E.left({ kind: "refused", code, reason: "", message: `HTTP ${code}`, causes: [] });
const apps = list(
  { name: "deployments", kind: "Deployment", namespaced: true },
  { name: "deployments/scale", kind: "Scale", namespaced: true },
  { name: "deployments/status", kind: "Deployment", namespaced: true },
  { name: "controllerrevisions", kind: "ControllerRevision", namespaced: true },
);

const bench = (answers: Record<string, E.Either<ApiError, KubeObject>>) => {
  const asked: string[] = [];
  const api: Api = {
    send: (request: Request) => {
      const path = request.verb === "raw" ? request.path : "?";
      asked.push(path);
      return Promise.resolve(answers[path] ?? error(404));
    },
    watch: () => {
      throw new Error("nothing to watch");
    },
  };
  const clock = manualClock();
  return { ...discovery(api, clock), clock, asked, answers };
};

describe("discovery", () => {
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
      E.left({ kind: "unknown", message: expect.stringContaining(message) }),
    );
  });

  it("finds a kind that comes later, but asks for it at most once a second", async () => {
    const { resource, asked, answers, clock } = bench({});
    for (let at = 0; at < 5; at += 1) await resource("new.io/v1", "New");
    expect(asked).toHaveLength(1);
    answers["/apis/new.io/v1"] = list({ name: "news", kind: "New", namespaced: true });
    await clock.pass(999);
    expect(E.isRight(await resource("new.io/v1", "New"))).toBe(false);
    await clock.pass(1);
    expect(E.isRight(await resource("new.io/v1", "New"))).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it("does not take silence for an answer, and asks again next time", async () => {
    const { resource, answers } = bench({ "/apis/apps/v1": error(503) });
    expect(await resource("apps/v1", "Deployment")).toMatchObject(E.left({ kind: "refused", code: 503 }));
    answers["/apis/apps/v1"] = apps;
    expect(E.isRight(await resource("apps/v1", "Deployment"))).toBe(true);
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
});
