import { journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import { describe, expect, it } from "vitest";
import type { Journal, Position } from "../../../packages/controller/src/core/state/journal.ts";
import {
  isGarbageCollected,
  livingOwners,
  withRelinkedOwners,
  withOriginalManagers,
  withLostOwners,
  withNewOwners,
  withoutLostOwners,
} from "../../../packages/controller/src/core/snapshots/owner-references.ts";
import { change, former, underway } from "./underway.ts";
import type { KubeObject } from "@janus/types";

const reference = (name: string, uid = `uid-of-${name}`) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid });
const entry = (manager: string, ...uids: readonly string[]) => ({
  manager,
  operation: "Update" as const,
  apiVersion: "v1",
  fieldsV1: {
    "f:data": { "f:x": {} },
    ...(uids.length === 0
      ? {}
      : {
          "f:metadata": {
            "f:ownerReferences": { ".": {}, ...Object.fromEntries(uids.map((uid) => [`k:{"uid":"${uid}"}`, {}])) },
          },
        }),
  },
});
const owned = (uids: readonly string[], ...managedFields: readonly object[]): KubeObject => {
  const names = new Map([["uid-of-new-b", "b"]]);
  const ownerReferences = uids.map((uid) => reference(names.get(uid) ?? uid.replace("uid-of-", ""), uid));
  return former("ConfigMap", "c", {
    metadata: { ...(uids.length === 0 ? {} : { ownerReferences }), managedFields },
  });
};

const [A, B, NEW_B, D] = ["uid-of-a", "uid-of-b", "uid-of-new-b", "uid-of-d"] as const;
const before = owned([A, B], entry("kubectl", A, B));

/** `b` is deleted first, `a` last; `c` is what they own. */
const at = (position: Position, ...created: readonly (readonly [number, string])[]) => {
  const { txn, known } = underway(
    "Committing",
    [change("Delete", "b"), change("Patch", "c"), change("Delete", "a")],
    position,
  );
  const journal = journalIn(known) as Journal;
  return [txn, { ...journal, created: new Map(created) }] as const;
};
const deleted = at({ direction: "forward", cursor: 1 });
const back = (...created: readonly (readonly [number, string])[]) =>
  at({ direction: "back", cursor: 0, reached: 2, since: 0 }, ...created);

const uids = (object: KubeObject | undefined) => (object?.metadata.ownerReferences ?? []).map(({ uid }) => uid);

describe("owners of what was there before", () => {
  it.each([
    ["are all there while none is deleted", at({ direction: "forward", cursor: 0 }), [A, B]],
    ["are there but for one that is deleted", deleted, [A]],
    ["are there though a change that was never made was to delete them", back(), [A]],
    ["are there under the uid of what was created again", back([0, NEW_B]), [A, NEW_B]],
  ] as const)("%s", (_, [txn, journal], living) => {
    expect(livingOwners(txn, journal, before).map(({ uid }) => uid)).toEqual(living);
    expect(uids(withNewOwners(txn, journal, before))).toEqual(living);
  });

  it("are named by their new uids in managedFields too", () => {
    expect(withNewOwners(...back([0, NEW_B]), before)).toEqual(owned([A, NEW_B], entry("kubectl", A, NEW_B)));
  });

  it("are all gone where each is deleted, or went so itself", () => {
    expect(isGarbageCollected(...deleted, before)).toBe(false);
    expect(isGarbageCollected(...deleted, owned([B]))).toBe(true);
    expect(isGarbageCollected(...back([2, "uid-of-new-a"]), before)).toBe(true);
    expect(isGarbageCollected(...deleted, owned([]))).toBe(false);
  });
});

describe("an owner that the garbage collector took out since it was deleted", () => {
  const live = owned([A], entry("kubectl", A));

  it("is no change of another client's", () => {
    expect(withoutLostOwners(...deleted, before, live)).toMatchObject({
      metadata: { ownerReferences: [reference("a")] },
    });
    expect(withoutLostOwners(...deleted, before, before)).toBe(before);
  });

  it("is kept, in its place and with who had set it", () => {
    expect(withLostOwners(...deleted, before, live)).toEqual(before);
    expect(withLostOwners(...deleted, before, owned([D, A], entry("kubectl", A), entry("else", D)))).toEqual(
      owned([A, B, D], entry("kubectl", A, B), entry("else", D)),
    );
  });

  it("is another client's change where it lives", () => {
    const foreign = owned([B], entry("kubectl", B));
    expect(withoutLostOwners(...deleted, before, foreign)).toBe(before);
    expect(withLostOwners(...deleted, before, foreign)).toBe(foreign);
  });
});

const isOurs = ({ manager }: { readonly manager?: string }) => manager === "ours";

describe("an owner that is created again", () => {
  const again = back([0, NEW_B]);

  it.each([
    ["comes back in its place", [A, D], [A, NEW_B, D]],
    ["takes the place of its old uid", [B, A], [A, NEW_B]],
  ] as const)("%s", (_, live, owners) => {
    expect(uids(withRelinkedOwners(...again, before, owned(live)))).toEqual(owners);
  });

  it("comes back once", () => {
    const live = owned([A, NEW_B]);
    expect(withRelinkedOwners(...again, before, live)).toBe(live);
  });

  it("is booked to who had set it, and not to us", () => {
    const live = owned([A, NEW_B], entry("kubectl", A), {
      ...entry("ours", A, NEW_B),
      fieldsV1: { "f:metadata": entry("ours", NEW_B).fieldsV1["f:metadata"] },
    });
    const booked = withOriginalManagers(...again, before, live, isOurs);
    expect(booked).toEqual(owned([A, NEW_B], entry("kubectl", A, NEW_B)));
    expect(withOriginalManagers(...again, before, booked ?? live, isOurs)).toBeUndefined();
  });

  it("leaves us booked for what else is ours", () => {
    const live = owned([A, NEW_B], entry("kubectl", A), entry("ours", NEW_B));
    expect(withOriginalManagers(...again, before, live, isOurs)?.metadata.managedFields).toEqual([
      entry("kubectl", A, NEW_B),
      entry("ours"),
    ]);
  });
});
