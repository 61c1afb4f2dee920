import {
  decodeTransaction,
  emptyStatus,
  encodeStatus,
  type Item,
  type JsonObject,
  MAX_CHANGES,
  type Status,
  transactions,
} from "@janus/api";
import { without } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { administrator, installCrd, transaction } from "./transactions.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const apiVersion = `${"g".repeat(253)}/v${"1".repeat(62)}`;
const kind = "K".repeat(63);
const longest = (index: number): JsonObject => {
  const name = `${"x".repeat(250)}${String(index).padStart(3, "0")}`;
  const namespace = "n".repeat(63);
  return {
    type: "Patch",
    target: { apiVersion, kind, namespace, name },
    content: { apiVersion, kind, metadata: { namespace, name }, data: { index: String(index) } },
    resourceVersion: "7".repeat(253),
  };
};
const specOf = (changes: number) => ({
  serviceAccountName: "s".repeat(253),
  changes: Array.from({ length: changes }, (_, index) => longest(index)),
});

describe("the most changes with the longest legal names", () => {
  const api = administrator();
  let namespace = "";
  const create = (name: string, spec: object) =>
    api.send({ verb: "create", resource: transactions, namespace, body: transaction(namespace, name, spec) });
  beforeAll(async () => {
    [namespace] = await Promise.all([freshNamespace(), installCrd()]);
  });
  afterAll(() => api.close());

  it("stay within the API server's CEL cost limits, also when the object is edited", async () => {
    const created = await create("x".repeat(253), specOf(MAX_CHANGES));
    expect(E.isRight(created) && E.isRight(decodeTransaction(created.right))).toBe(true);
    const at = { resource: transactions, namespace, name: "x".repeat(253) };
    const labelled = await api.send({ verb: "mergePatch", ...at, body: { metadata: { labels: { a: "b" } } } });
    expect(E.isRight(labelled)).toBe(true);
    const edited = await api.send({ verb: "mergePatch", ...at, body: { spec: { timeout: "31m" } } });
    expect(edited).toMatchObject(E.left({ message: expect.stringContaining("spec cannot be changed") as unknown }));
  });

  it("of a proposed Transaction, too, and of one that is moved through its lifecycle", async () => {
    const name = "p".repeat(253);
    expect(await create(name, { ...specOf(MAX_CHANGES), lifecycle: "Draft" })).toMatchObject(E.right({}));
    const at = { resource: transactions, namespace, name };
    for (const lifecycle of ["Proposed", "Draft", "Proposed", "Published"])
      expect(await api.send({ verb: "mergePatch", ...at, body: { spec: { lifecycle } } })).toMatchObject(E.right({}));
  });

  it("may have their contents elsewhere, under the longest legal names", async () => {
    const { changes, ...rest } = specOf(MAX_CHANGES);
    const elsewhere = changes.map((change, index) => ({
      ...without(change, ["content"]),
      contentFrom: {
        [index % 2 === 0 ? "secretKeyRef" : "configMapKeyRef"]: { name: "c".repeat(253), key: "k".repeat(253) },
      },
    }));
    const created = await create("elsewhere", { ...rest, changes: elsewhere });
    expect(E.isRight(created) && E.isRight(decodeTransaction(created.right))).toBe(true);
  });

  it("are told apart, and two that are the same are found", async () => {
    const { changes, ...rest } = specOf(MAX_CHANGES - 1);
    const reply = await create("twice", { ...rest, changes: [...changes, longest(MAX_CHANGES - 2)] });
    expect(reply).toMatchObject(E.left({ message: expect.stringContaining("same target") as unknown }));
  });

  it("are the most there can be", async () => {
    const reply = await create("more", specOf(MAX_CHANGES + 1));
    expect(reply).toMatchObject(
      E.left({ message: expect.stringContaining(`at most ${MAX_CHANGES} items`) as unknown }),
    );
  });

  it("can be recorded in a status, each with the longest error, and read back as they were written", async () => {
    const uid = "0".repeat(36);
    const item: Item = {
      lock: { lease: "l".repeat(253), namespace: "n".repeat(63) },
      state: {
        type: "rollback-failed",
        before: {
          existed: true,
          uid,
          resourceVersion: "7",
          snapshot: { store: "s".repeat(253), key: String(MAX_CHANGES - 1) },
        },
        created: uid,
        error: "é".repeat(128),
      },
    };
    const status: Status = {
      ...emptyStatus,
      phase: "Failed",
      version: 7,
      observedGeneration: 1,
      startedAt: "2026-01-01T00:00:00Z",
      completedAt: "2026-01-01T00:00:01Z",
      progress: `${MAX_CHANGES - 1}/${MAX_CHANGES}`,
      rollbackRef: "x-rollback",
      journal: { name: `janus-journal-${uid}`, uid },
      snapshots: [{ kind: "Secret", name: "x-rollback", uid, digest: "d".repeat(64) }],
      items: Array.from({ length: MAX_CHANGES }, () => item),
      conditions: [
        {
          type: "Ready",
          status: "False",
          reason: "Failed",
          message: "m".repeat(2048),
          lastTransitionTime: "2026-01-01T00:00:01Z",
        },
      ],
    };
    const spec = { serviceAccountName: "sa", changes: [longest(0)] };
    expect(E.isRight(await create("recorded", spec))).toBe(true);
    const written = await api.send({
      verb: "mergePatch",
      resource: transactions,
      namespace,
      name: "recorded",
      subresource: "status",
      body: { status: encodeStatus(status) },
    });
    const read = E.isRight(written) ? decodeTransaction(written.right) : written;
    expect(E.isRight(read) && read.right.status).toEqual(status);
  });
});
