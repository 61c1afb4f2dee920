import { Item, type ItemState } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";

const absent = { existed: false } as const;
const present = {
  existed: true,
  uid: "u-1",
  resourceVersion: "7",
  snapshot: { store: "deploy-v2-rollback", key: "0" },
} as const;
const presentOnWire = { uid: "u-1", resourceVersion: "7", snapshot: { store: "deploy-v2-rollback", key: "0" } };
const flags = (prepared: boolean, committed: boolean, rolledBack: boolean) => ({ prepared, committed, rolledBack });
const error = "no";
const created = "u-2";

const table: readonly (readonly [ItemState, object])[] = [
  [{ type: "untouched" }, { state: "Pending", ...flags(false, false, false) }],
  [
    { type: "refused", error },
    { state: "Refused", ...flags(false, false, false), error },
  ],
  [
    { type: "committed", before: { existed: true, uid: "u-1", resourceVersion: "7" } },
    { state: "Applied", ...flags(true, true, false), uid: "u-1", resourceVersion: "7" },
  ],
  [
    { type: "prepared", before: absent },
    { state: "Prepared", ...flags(true, false, false) },
  ],
  [
    { type: "prepared", before: present },
    { state: "Prepared", ...flags(true, false, false), ...presentOnWire },
  ],
  [
    { type: "unknown", before: absent, error },
    { state: "Unknown", ...flags(true, false, false), error },
  ],
  [
    { type: "rejected", before: present, error },
    { state: "NotApplied", ...flags(true, false, true), ...presentOnWire, error },
  ],
  [
    { type: "committed", before: absent, created },
    { state: "Applied", ...flags(true, true, false), created },
  ],
  [
    { type: "committed", before: present },
    { state: "Applied", ...flags(true, true, false), ...presentOnWire },
  ],
  [
    { type: "rollback-failed", before: present, error },
    { state: "RollbackFailed", ...flags(true, true, false), ...presentOnWire, error },
  ],
  [
    { type: "rollback-failed", before: absent, created, error },
    { state: "RollbackFailed", ...flags(true, true, false), created, error },
  ],
  [
    { type: "restored", before: present },
    { state: "RolledBack", ...flags(true, true, true), ...presentOnWire },
  ],
  [
    { type: "restored", before: present, created, error },
    { state: "RolledBack", ...flags(true, true, true), ...presentOnWire, created, error },
  ],
];

const impossible: readonly (readonly [string, object, string])[] = [
  ["rolled back, never prepared", { rolledBack: true }, "no item is prepared=false, committed=false, rolledBack=true"],
  ["committed, never prepared", { committed: true }, "no item is prepared=false, committed=true"],
  ["undone without a commit or an error", { prepared: true, rolledBack: true }, "without an error"],
  ["created, not committed", { prepared: true, created }, "created=true"],
  ["a uid without a resourceVersion", { prepared: true, uid: "u" }, "uid and resourceVersion go together"],
  ["a prior state, not prepared", presentOnWire, "uid, resourceVersion and snapshot are of a prepared item"],
  ["a gate that failed for no reason", { prepared: true, committed: true, gateFailed: true }, "comes with an error"],
  ["a gate of what was not applied", { prepared: true, error, gateFailed: true }, "is of a committed item"],
  ["half a lock", { lockLease: "l" }, "lockLease and leaseNamespace go together"],
];

describe("an item", () => {
  it.each(table)("%j stands on the wire as %j", (state, wire) => {
    expect(Item.encode({ state })).toEqual(wire);
    expect(Item.decode(wire)).toEqual(E.right({ state }));
  });

  it("names its lock", () => {
    const item: Item = { lock: { lease: "l", namespace: "n" }, state: { type: "untouched" } };
    expect(Item.encode(item)).toMatchObject({ lockLease: "l", leaseNamespace: "n" });
    expect(Item.decode(Item.encode(item))).toEqual(E.right(item));
  });

  it.each([
    [
      { type: "committed", before: absent, created },
      { state: "Applied", ...flags(true, true, false), created },
    ],
    [
      { type: "restored", before: absent, created },
      { state: "RolledBack", ...flags(true, true, true), created },
    ],
  ] as const)("tells the error of a gate from one of the rollback: %j", (state, wire) => {
    const item: Item = { state, gateError: error };
    expect(Item.encode(item)).toEqual({ ...wire, error, gateFailed: true });
    expect(Item.decode(Item.encode(item))).toEqual(E.right(item));
  });

  it("says what became of the rollback rather than why it began", () => {
    const state = { type: "rollback-failed", before: absent, created, error } as const;
    expect(Item.encode({ state, gateError: "late" })).toEqual(Item.encode({ state }));
  });

  it("takes missing booleans for false", () => {
    expect(Item.decode({})).toEqual(E.right({ state: { type: "untouched" } }));
  });

  it.each(impossible)("does not decode: %s", (_, wire, message) => {
    const decoded = Item.decode(wire);
    expect(E.isLeft(decoded) && decoded.left.map((error) => error.message).join()).toContain(message);
  });

  it("decodes from 16 combinations of booleans and error only the 9 that mean something", () => {
    const all = [false, true].flatMap((p) =>
      [false, true].flatMap((c) => [false, true].flatMap((r) => [flags(p, c, r), { ...flags(p, c, r), error }])),
    );
    expect(all.filter((wire) => E.isRight(Item.decode(wire)))).toHaveLength(9);
  });
});
