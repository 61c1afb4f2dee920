import type { Api } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { searchOwned } from "../../../packages/controller/src/shell/reconcile/search-owned.ts";

const served = (plural: string, kind: string) => ({
  resource: plural,
  responseKind: { kind },
  scope: "Namespaced",
  verbs: ["list"],
});

const kinds = {
  apiVersion: "apidiscovery.k8s.io/v2",
  kind: "APIGroupDiscoveryList",
  metadata: {},
  items: [
    {
      metadata: {},
      versions: [{ version: "v1", resources: [served("configmaps", "ConfigMap"), served("secrets", "Secret")] }],
    },
  ],
};

const owned = (plural: string, n: number, owners: number) => ({
  metadata: {
    name: `${plural}-${n}`,
    namespace: "shop",
    uid: `${plural}-${n}`,
    ownerReferences: Array.from({ length: owners }, (_, at) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "o",
      uid: `o-${at}`,
    })),
  },
});

/** It has so many objects of each kind, each with so many owners, and gives them out page by page. */
const having = (counts: Readonly<Record<string, number>>, owners = 1): Api => ({
  watch: () => {
    throw new Error("nothing is watched");
  },
  send: (request) => {
    if (request.verb === "raw")
      return Promise.resolve(E.right(request.path === "/api" ? kinds : { ...kinds, items: [] }));
    if (request.verb !== "list") throw new Error(`${request.verb} is not expected`);
    const { plural } = request.resource;
    const [from, limit = 500] = [Number(request.continue ?? 0), request.limit];
    const to = Math.min(from + limit, counts[plural] ?? 0);
    const items = Array.from({ length: to - from }, (_, at) => owned(plural, from + at, owners));
    const metadata = { resourceVersion: "1", ...(to === counts[plural] ? {} : { continue: `${to}` }) };
    return Promise.resolve(E.right({ apiVersion: "v1", kind: "List", metadata, items }));
  },
});

const found = async (api: Api) => {
  const answer = await searchOwned(api, { namespace: "shop" }, { user: "deploy-sa" });
  if (E.isLeft(answer)) throw new Error(answer.left.message);
  return answer.right;
};

describe("a search for what goes with deleted objects", () => {
  it("has all there is, where that is not very much", async () => {
    const { owned, unlisted } = await found(having({ configmaps: 3_000, secrets: 1_500 }));
    expect(owned).toHaveLength(4_500);
    expect(unlisted).toEqual([]);
  });

  it("keeps a bounded number of 200,000 objects, and says of how many it does not know", async () => {
    const { owned, unlisted } = await found(having({ configmaps: 200_000, secrets: 300 }));
    const configMaps = owned.filter(({ kind }) => kind === "ConfigMap");
    expect(owned.length).toBeLessThanOrEqual(5_500);
    expect(owned.filter(({ kind }) => kind === "Secret").length).toBeGreaterThanOrEqual(100);
    const notOf = (resource: string) => unlisted.find((one) => one.resource === resource)?.why;
    expect(notOf("configmaps")).toContain(
      `${200_000 - configMaps.length} of its objects with owners were not examined`,
    );
  });

  it("counts owners, too: an object may name thousands", async () => {
    const { owned, unlisted } = await found(having({ configmaps: 300, secrets: 0 }, 1_000));
    expect(owned.length).toBeLessThanOrEqual(10);
    expect(unlisted).toHaveLength(1);
  });
});
