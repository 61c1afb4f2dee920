import { decodeTransaction, emptyStatus, Transaction } from "@janus/api";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";

const metadata = { name: "deploy-v2", namespace: "shop", uid: "u-1", resourceVersion: "1", generation: 1 };
const target = { apiVersion: "v1", kind: "ConfigMap", name: "app-config" };
const patch = { type: "Patch", target, content: { data: { version: "2.0" } } };
const transaction = (...changes: readonly unknown[]) => ({
  metadata,
  spec: { serviceAccountName: "deploy-sa", changes },
});
const faults = (stored: unknown): string =>
  E.match(
    (message: string) => message,
    () => "none",
  )(decodeTransaction(stored));

describe("a Transaction", () => {
  it("has the defaults of the API server", () => {
    expect(decodeTransaction(transaction(patch))).toEqual(
      E.right({
        metadata,
        spec: {
          serviceAccountName: "deploy-sa",
          lockTimeout: 300_000,
          timeout: 1_800_000,
          deletionPolicy: "Release",
          changes: [patch],
        },
        status: emptyStatus,
      }),
    );
  });

  it("is the same after the way to the wire and back", () => {
    const decoded = decodeTransaction(transaction(patch, { type: "Delete", target: { ...target, kind: "Secret" } }));
    expect(E.flatMap((value: Transaction) => decodeTransaction(Transaction.encode(value)))(decoded)).toEqual(decoded);
    expect(E.isRight(decoded)).toBe(true);
  });

  it("keeps in the content whatever it does not know, nulls included", () => {
    const content = {
      metadata: { labels: { a: "b" }, annotations: null, finalizers: ["x/y"], ownerReferences: [{ uid: "u" }] },
      data: { gone: null, ["__proto__"]: "kept" },
    };
    const decoded = decodeTransaction(transaction({ ...patch, content }));
    expect(E.isRight(decoded) && decoded.right.spec.changes).toEqual([{ ...patch, content }]);
  });

  it("takes a null in a declared field for a field that is missing, as the API server does", () => {
    const content = { apiVersion: null, kind: null, metadata: { name: null } };
    const decoded = decodeTransaction(transaction({ ...patch, resourceVersion: null, content }));
    expect(E.isRight(decoded) && decoded.right.spec.changes).toEqual([{ ...patch, content: { metadata: {} } }]);
  });

  it.each<readonly [string, object, string]>([
    ["a missing spec", { metadata }, "spec: is missing"],
    ["no changes", transaction(), "spec.changes: must have at least 1 item"],
    [
      "501 changes",
      transaction(...Array.from({ length: 501 }, () => patch)),
      "spec.changes: must have at most 500 items",
    ],
    [
      "several faults at once",
      transaction({ ...patch, target: { ...target, kind: "", name: "" } }, { ...patch, type: "Apply" }),
      "spec.changes[0].target.kind: kind must be a kind as it stands in a manifest, such as ConfigMap; " +
        "spec.changes[0].target.name: name must be the name of one object: not empty, not . or .., and without / and %; " +
        "spec.changes[1].type: must be one of Create, Update, Patch, Delete",
    ],
    [
      "content of another object",
      transaction({ ...patch, content: { metadata: { name: "other" } } }),
      "spec.changes[0]: content.metadata.name contradicts target.name: make them the same, or leave content.metadata.name out",
    ],
    [
      "one target twice, in two versions of its group",
      transaction(
        { type: "Delete", target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
        { type: "Delete", target: { apiVersion: "apps/v1beta1", kind: "Deployment", name: "web" } },
      ),
      "spec.changes: two changes have the same target (group, kind, namespace and name): make them one change",
    ],
    ["an odd item", { ...transaction(patch), status: { items: [{ committed: true }] } }, "status.items[0]: no item is"],
  ])("that has %s does not decode, and the message says where and why", (_, stored, message) => {
    expect(faults(stored)).toContain(message);
  });

  it.each([
    ["kind", "x-"],
    ["kind", "Config Map"],
    ["apiVersion", "a/b/v1"],
    ["apiVersion", "apps/V1"],
    ["name", ".."],
    ["name", "50%"],
    ["name", "a/b"],
    ["namespace", "a.b"],
    ["namespace", "Shop"],
  ])("whose target has the %s %j does not decode", (field, value) => {
    const change = { type: "Delete", target: { ...target, [field]: value } };
    expect(faults(transaction(change))).toMatch(
      new RegExp(`^spec.changes\\[0\\].target.${field}: ${field} must be `, "u"),
    );
  });

  it("that looks like another one in group, kind or namespace only is not the same target", () => {
    const targets = [
      target,
      { ...target, namespace: "other" },
      { ...target, apiVersion: "x.example/v1" },
      { ...target, kind: "Secret" },
    ];
    expect(faults(transaction(...targets.map((target) => ({ type: "Delete", target }))))).toBe("none");
  });

  it("never quotes a value in a fault: it may be a Secret's", () => {
    const secret = "hunter2-swordfish";
    const anywhere = fc.constantFrom<(value: unknown) => unknown>(
      (value) => value,
      (value) => transaction(value),
      (value) => transaction({ ...patch, content: value }),
      (value) => transaction({ ...patch, type: "Delete", content: { data: value } }),
      (value) => transaction({ ...patch, content: { kind: value, data: value } }),
      (value) => transaction({ ...patch, content: { metadata: value } }),
      (value) => transaction({ ...patch, content: { metadata: { name: value, generateName: value } } }),
      (value) => ({ ...transaction(patch), status: { items: [{ error: value, committed: value }] } }),
    );
    const value = fc.constantFrom<unknown>(secret, [secret], { [secret]: secret }, secret.repeat(100));
    fc.assert(
      fc.property(anywhere, value, (put, value) => {
        expect(faults(put(value))).not.toContain("swordfish");
      }),
    );
  });
});
