// Tests what is said of folders that are the mirrors of other clusters.
import type { ApiError } from "@janus/kube";
import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Cluster } from "../../../packages/cli/src/cluster/cluster.ts";
import { othersOf } from "../../../packages/cli/src/git/other-clusters.ts";

const US = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system", uid: "us" } };
const ours = { clusterUid: "us", destination: "shop/prod" };

const saidOf = (owners: Readonly<Record<string, typeof ours>>, answer: E.Either<ApiError, KubeObject> = E.right(US)) =>
  othersOf(
    { api: { send: async () => answer } as Pick<Cluster["api"], "send"> as Cluster["api"] },
    new Map(Object.entries(owners)),
  );

it("the folder of this cluster needs no warning, nor one of nobody", async () => {
  expect(await saidOf({ prod: ours })).toEqual({ warnings: [], uids: [] });
  expect(await saidOf({})).toEqual({ warnings: [], uids: [] });
});

it("each folder of another cluster is named, with both clusters", async () => {
  expect(await saidOf({ "": { ...ours, clusterUid: "b" }, prod: ours, test: { ...ours, clusterUid: "a" } })).toEqual({
    warnings: [
      "the root of the repository is the mirror of another cluster (uid b, and this one has us): go on only to have its objects here, too",
      "test is the mirror of another cluster (uid a, and this one has us): go on only to have its objects here, too",
    ],
    uids: ["a", "b"],
  });
});

it("what somebody has written for a uid is not repeated where it is none", async () => {
  const { warnings, uids } = await saidOf({ prod: { ...ours, clusterUid: `\u001B[31m${"x".repeat(100_000)}` } });
  expect(uids).toEqual(["unknown"]);
  expect(warnings[0]).toContain("(uid unknown, and");
});

it("who may not read which cluster it is, is told that it is not known", async () => {
  const denied = { type: "refused", code: 403, reason: "Forbidden", message: "namespaces is forbidden", causes: [] };
  const { warnings, uids } = await saidOf({ prod: ours }, E.left(denied as unknown as ApiError));
  expect(uids).toEqual([]);
  expect(warnings).toEqual(["it cannot be told whether prod is of this cluster: namespaces is forbidden"]);
});
