import { fieldManager, holderIdentity, journalName, marks, parseHolder, storeName, transactionLabel } from "@janus/api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dotted, isLabelValue, isSubdomain, subdomain } from "./arbitrary-name.ts";

const transaction = fc.record({ namespace: fc.constantFrom("shop", "a-b"), name: subdomain, uid: fc.uuid() });

/** Names that would share a store with this one if our suffixes could be mistaken for a part of the name. */
const lookalikes = (name: string, n: number): readonly string[] =>
  [`${name}-rollback`, `${name}-rollback-${n}`, storeName(name, n).replace(/-rollback(?:-\d+)?$/u, "")].filter(
    (name) => name.length <= 253,
  );

describe("the field manager", () => {
  it("is legal and marks one Transaction only", () => {
    fc.assert(
      fc.property(transaction, transaction, (one, other) => {
        expect(fieldManager(one).length).toBeLessThanOrEqual(128);
        expect(marks(fieldManager(one), one.uid)).toBe(true);
        expect(marks(fieldManager(one), other.uid)).toBe(one.uid === other.uid);
      }),
    );
  });

  it("is not ours if it is of anybody else", () => {
    expect(marks("kubectl", "u-1")).toBe(false);
    expect(marks("other-u-1", "u-1")).toBe(false);
    expect(marks("janus-x-", "")).toBe(false);
  });
});

describe("the label", () => {
  it("is a legal value, and the name itself where that is one", () => {
    fc.assert(
      fc.property(subdomain, (name) => {
        expect(transactionLabel(name)).toMatch(isLabelValue);
      }),
    );
    expect(transactionLabel("deploy-v2")).toBe("deploy-v2");
  });

  it("is never that of another Transaction, not even of one that has its short form for a name", () => {
    fc.assert(
      fc.property(subdomain, subdomain, (one, other) => {
        for (const name of [other, transactionLabel(one)])
          expect(transactionLabel(one) === transactionLabel(name)).toBe(one === name);
      }),
    );
  });
});

describe("the name of a snapshot store", () => {
  it("is <txn>-rollback, then -1, -2", () => {
    expect([0, 1, 2].map((n) => storeName("deploy-v2", n))).toEqual([
      "deploy-v2-rollback",
      "deploy-v2-rollback-1",
      "deploy-v2-rollback-2",
    ]);
  });

  it("is legal wherever a long name is cut", () => {
    for (const name of dotted) expect(storeName(name, 7)).toMatch(isSubdomain);
  });

  it("is legal, and never that of another store or Transaction", () => {
    const number = fc.oneof(fc.constantFrom(0, 1, 10), fc.nat({ max: 5_000 }));
    fc.assert(
      fc.property(subdomain, number, subdomain, number, (one, n, other, m) => {
        expect(storeName(one, n)).toMatch(isSubdomain);
        expect(storeName(one, n).length).toBeLessThanOrEqual(253);
        for (const name of [other, one, ...lookalikes(one, n)])
          expect(storeName(one, n) === storeName(name, m)).toBe(one === name && n === m);
      }),
    );
  });
});

describe("the holder of a lock", () => {
  it("can be read back", () => {
    fc.assert(
      fc.property(transaction, (holder) => {
        expect(parseHolder(holderIdentity(holder))).toEqual(holder);
      }),
    );
  });

  it.each(["", "kube-scheduler_1", "a/b", "a//c", "a/b/c", "a/b/c/d"])("is no Transaction if it is %j", (identity) => {
    expect(parseHolder(identity)).toBeUndefined();
  });
});

it("names the journal after the uid, which is unique", () => {
  expect(journalName("u-1")).toBe("janus-journal-u-1");
});
