import { decodeTransaction, type Transaction, transactions } from "@janus/api";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { borders, durationText, spec } from "./arbitrary-spec.ts";
import { administrator, installCrd, transaction } from "./transactions.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const stored = { name: "x", namespace: "y", uid: "u", resourceVersion: "1", generation: 1 };

describe("the codec and the API server", () => {
  const api = administrator();
  let namespace = "";
  beforeAll(async () => {
    [namespace] = await Promise.all([freshNamespace(), installCrd()]);
  });
  afterAll(() => api.close());

  /** What the API server would store; undefined if it refuses. */
  const dryRun = async (spec: unknown): Promise<unknown> => {
    const reply = await api.send({
      verb: "create",
      resource: transactions,
      namespace,
      body: transaction(namespace, "x", spec),
      dryRun: true,
      fieldValidation: "Strict",
    });
    // 400: a field that is not in the schema.
    if (E.isLeft(reply) && !(reply.left.type === "refused" && [400, 422].includes(reply.left.code)))
      throw new Error(JSON.stringify(reply.left));
    return E.isRight(reply) ? { ...reply.right, metadata: stored } : undefined;
  };

  /** Both accept it and mean the same Transaction, or both refuse it. */
  const agree = async (spec: unknown): Promise<boolean> => {
    const ours = decodeTransaction({ metadata: stored, spec });
    const theirs = await dryRun(spec);
    const accepted = theirs !== undefined;
    const meant: E.Either<unknown, Transaction> = accepted ? decodeTransaction(theirs) : E.left(expect.any(String));
    expect({ spec, accepted: E.isRight(ours), meant: ours }).toEqual({ spec, accepted, meant });
    return accepted;
  };

  it("agree at every border of every field", async () => {
    const accepted: boolean[] = [];
    for (const spec of borders) accepted.push(await agree(spec));
    expect(accepted).toContain(true);
    expect(accepted).toContain(false);
  });

  it("accept the same specs, and mean the same by them", async () => {
    const seen = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(spec, async (spec) => {
        seen[(await agree(spec)) ? "accepted" : "refused"]++;
      }),
      { numRuns: 500 },
    );
    expect(seen.accepted).toBeGreaterThan(50);
    expect(seen.refused).toBeGreaterThan(50);
  });

  it("accept the same durations, and mean the same by them", async () => {
    const changes = [{ type: "Delete", target: { apiVersion: "v1", kind: "Secret", name: "x" } }];
    const seen = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(durationText, async (timeout) => {
        seen[(await agree({ serviceAccountName: "sa", timeout, changes })) ? "accepted" : "refused"]++;
      }),
      { numRuns: 500 },
    );
    expect(seen.accepted).toBeGreaterThan(50);
    expect(seen.refused).toBeGreaterThan(50);
  });
});
