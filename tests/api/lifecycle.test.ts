import * as E from "fp-ts/lib/Either.js";
import { transactions } from "@janus/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { administrator, installCrd, transaction } from "./transactions.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const target = { apiVersion: "v1", kind: "ConfigMap", name: "a", namespace: "shop" };
const change = (value: string) => ({ type: "Patch", target, content: { data: { value } } });
const spec = { serviceAccountName: "deploy", timeout: "5m", waitFor: ["ready"], changes: [change("1")] };
const digest = `sha256:${"0".repeat(64)}`;

const PROPOSED = "of a proposed Transaction only spec.lifecycle can be changed";
const PUBLISHED = "spec cannot be changed once it is published";
const DIGEST = "approvedDigest is set together with lifecycle Published";

/** From a lifecycle, with an edit: what the API server says, if it refuses. */
const edits: readonly (readonly [from: string, edit: object, refused: string | undefined])[] = (
  [
    ["Draft", { timeout: "6m" }],
    ["Draft", { changes: [change("2")] }],
    ["Draft", { lifecycle: "Proposed" }],
    ["Draft", { lifecycle: "Published" }],
    ["Draft", { lifecycle: "Published", approvedDigest: digest }],
    ["Draft", { approvedDigest: digest }, DIGEST],
    ["Draft", { lifecycle: "Proposed", approvedDigest: digest }, DIGEST],
    ["Proposed", { lifecycle: "Draft" }],
    ["Proposed", { lifecycle: "Published" }],
    ["Proposed", { lifecycle: "Published", approvedDigest: digest }],
    ["Proposed", { approvedDigest: digest }, DIGEST],
    ["Proposed", { timeout: "6m" }, PROPOSED],
    ["Proposed", { waitFor: null }, PROPOSED],
    ["Proposed", { rollbackWaitFor: ["ready"] }, PROPOSED],
    ["Proposed", { serviceAccountName: "other" }, PROPOSED],
    ["Proposed", { changes: [change("2")] }, PROPOSED],
    ["Proposed", { lifecycle: "Draft", changes: [change("2")] }, PROPOSED],
    ["Proposed", { lifecycle: "Published", changes: [change("2")] }, PROPOSED],
    ["Published", { timeout: "6m" }, PUBLISHED],
    ["Published", { lifecycle: "Draft" }, PUBLISHED],
    ["Published", { lifecycle: "Proposed" }, PUBLISHED],
    ["Published", { approvedDigest: digest }, PUBLISHED],
    ["Published", { approvedDigest: null }],
  ] as const
).map(([from, edit, refused]) => [from, edit, refused]);

describe("the lifecycle of a Transaction, as the API server keeps it", () => {
  const api = administrator();
  let namespace = "";
  let made = 0;
  beforeAll(async () => {
    [namespace] = await Promise.all([freshNamespace(), installCrd()]);
  });
  afterAll(() => api.close());

  const created = async (lifecycle: string): Promise<string> => {
    const name = `txn-${(made += 1)}`;
    const body = transaction(namespace, name, { ...spec, lifecycle });
    expect(await api.send({ verb: "create", resource: transactions, namespace, body })).toMatchObject(E.right({}));
    return name;
  };

  it.each(edits)("%s, then %o: %s", async (from, edit, refused) => {
    const at = { resource: transactions, namespace, name: await created(from) };
    const reply = await api.send({ verb: "mergePatch", ...at, body: { spec: edit } });
    const message = E.isLeft(reply) && "message" in reply.left ? reply.left.message : "";
    expect([E.isRight(reply), message]).toEqual([
      refused === undefined,
      expect.stringContaining(refused ?? "") as unknown,
    ]);
  });

  it.each(["Draft", "Proposed", "Published"])("the labels of a %s one can be edited", async (from) => {
    const at = { resource: transactions, namespace, name: await created(from) };
    const reply = await api.send({ verb: "mergePatch", ...at, body: { metadata: { labels: { a: "b" } } } });
    expect(reply).toMatchObject(E.right({ metadata: { labels: { a: "b" } } }));
  });

  it.each(["Draft", "Proposed"])("a %s one is deleted at once", async (from) => {
    const at = { resource: transactions, namespace, name: await created(from) };
    expect(await api.send({ verb: "delete", ...at })).toMatchObject(E.right({}));
    expect(E.isLeft(await api.send({ verb: "get", ...at }))).toBe(true);
  });

  it.each([undefined, "1"])("a replacement of resourceVersion %s is refused", async (resourceVersion) => {
    const name = await created("Draft");
    const at = { resource: transactions, namespace, name };
    const body = {
      ...transaction(namespace, name, { ...spec, lifecycle: "Proposed" }),
      metadata: { namespace, name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    };
    const reply = await api.send({ verb: "update", ...at, body, fieldManager: "test" });
    expect(E.isLeft(reply)).toBe(true);
  });
});
