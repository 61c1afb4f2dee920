import type { Api, ApiError, Client, KubeObject, Request } from "@janus/kube";
import { discovery } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Cluster } from "../../../packages/cli/src/cluster/cluster.ts";
import { creationProblems } from "../../../packages/cli/src/cluster/creation-problems.ts";
import { readUserName } from "../../../packages/cli/src/cluster/user-name.ts";
import { compose } from "../../../packages/cli/src/manifests/compose.ts";
import { runPreview } from "../../../packages/cli/src/plan/run-preview.ts";
import { checkPermissions } from "../../../packages/cli/src/story/user-permissions.ts";

const refused = (code: number, message: string): ApiError => ({
  type: "refused",
  code,
  reason: "",
  message,
  causes: [],
});

const TIMEOUT = "Timeout: request did not complete within the allotted timeout";
const timeout = refused(504, TIMEOUT);

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "app" }, data: {} };
const manifest = compose([{ where: "app.yaml", manifest: configMap }], "shop", { name: "release" });

/** Answers to every request as `answer` says, with the number of those that were the same. */
const clusterOf = (answer: (request: Request, tries: number) => E.Either<ApiError, KubeObject>): Cluster => {
  const tries = new Map<string, number>();
  const api = {
    send: async (request) => {
      const key = JSON.stringify(request);
      tries.set(key, (tries.get(key) ?? 0) + 1);
      return answer(request, tries.get(key) ?? 0);
    },
  } as Pick<Api, "send"> as Client;
  return { api, discovery: discovery(api), namespace: "shop", server: "https://127.0.0.1" };
};

/** Any object that was asked for; of a review, that all is allowed. */
const fine: KubeObject = {
  apiVersion: "v1",
  kind: "Any",
  metadata: { name: "any" },
  status: { allowed: true, userInfo: { username: "ann" } },
};
const absent: ApiError = {
  type: "refused",
  code: 404,
  reason: "NotFound",
  message: "not found",
  causes: [],
  notFound: "object",
};
/** Nothing is there, and everything can be created. */
const empty = ({ verb }: Request) => (verb === "get" ? E.left(absent) : E.right(fine));
const configMaps = { name: "configmaps", kind: "ConfigMap", namespaced: true, verbs: ["get", "list", "create"] };
const SERVED = { ...fine, kind: "APIResourceList", groupVersion: "v1", resources: [configMaps] };
const isDryRun = (request: Request): boolean => "dryRun" in request && request.dryRun;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ending = async <Result>(work: Promise<Result>): Promise<E.Either<string, Result>> => {
  const ended = work.then(E.right, (error: Error) => E.left(error.message));
  await vi.runAllTimersAsync();
  return ended;
};

describe("an answer that says nothing about the request", () => {
  it.each([timeout, refused(429, "too many requests"), refused(503, "starting"), refused(500, "leader changed")])(
    "is no reason why a Transaction cannot be created, if there is another: %o",
    async (fault) => {
      const cluster = clusterOf((request, tries) => (isDryRun(request) && tries < 3 ? E.left(fault) : empty(request)));
      expect(await ending(creationProblems(cluster, manifest))).toEqual(E.right([]));
    },
  );

  it("is told as such, with what to do, if there is no other", async () => {
    const cluster = clusterOf((request) => (isDryRun(request) ? E.left(timeout) : empty(request)));
    expect(await ending(creationProblems(cluster, manifest))).toEqual(
      E.left(
        `cannot find out whether Transaction shop/release can be created: ${TIMEOUT}; the API server may be overloaded: try again`,
      ),
    );
  });

  it("is no reason why a change would fail", async () => {
    const cluster = clusterOf((request) => {
      if (request.verb === "raw") return E.right(SERVED);
      if (isDryRun(request)) return E.left(timeout);
      const isOfShop = request.verb === "get" && ["Namespace", "ServiceAccount"].includes(request.resource.kind);
      return isOfShop ? E.right(fine) : empty(request);
    });
    expect(await ending(runPreview(cluster, manifest, "shop"))).toEqual(
      E.left(
        `cannot make the dry run of change 1, ConfigMap shop/app: ${TIMEOUT}; the API server may be overloaded: try again`,
      ),
    );
  });

  it("takes from the user no permission that they have, and no name", async () => {
    const cluster = clusterOf((_, tries) => (tries < 2 ? E.left(timeout) : E.right(fine)));
    const findings = await ending(checkPermissions(cluster, "deployer"));
    expect(E.isRight(findings) && findings.right.every(({ isFine }) => isFine)).toBe(true);
    expect(await ending(readUserName(cluster))).toEqual(E.right("ann"));
  });
});

it("what the API server cannot do is a reason in the end, such as to call a webhook", async () => {
  const webhook = refused(500, "failed calling webhook: connection refused");
  const cluster = clusterOf((request) => (isDryRun(request) ? E.left(webhook) : empty(request)));
  const ended = await ending(creationProblems(cluster, manifest));
  expect(E.isRight(ended) && ended.right).toContain(webhook.message);
});

it("an answer about the request is taken at once", async () => {
  const asked: Request[] = [];
  const cluster = clusterOf((request) => {
    if (!isDryRun(request)) return empty(request);
    asked.push(request);
    return E.left(refused(422, "spec is not valid"));
  });
  const ended = await ending(creationProblems(cluster, manifest));
  expect(E.isRight(ended) && ended.right).toContain("spec is not valid");
  expect(asked).toHaveLength(1);
});
