import { decodeTransaction, emptyStatus, isLater, type JsonObject, MAX_CHANGES, Transaction } from "@janus/api";
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
          lifecycle: "Published",
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
      "one change too many",
      transaction(...Array.from({ length: MAX_CHANGES + 1 }, () => patch)),
      `spec.changes: must have at most ${MAX_CHANGES} items`,
    ],
    [
      "several faults at once",
      transaction({ ...patch, target: { ...target, kind: "", name: "" } }, { ...patch, type: "Swap" }),
      "spec.changes[0].target.kind: kind must be written as in a manifest, such as ConfigMap; " +
        "spec.changes[0].target.name: name must be the name of one object: not empty, not . or .., and without / and %; " +
        "spec.changes[1].type: must be one of Create, Update, Patch, Apply, Replace, Delete",
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
    const value = fc.constantFrom<unknown>(secret, [secret], { data: secret }, secret.repeat(100));
    fc.assert(
      fc.property(anywhere, value, (put, value) => {
        expect(faults(put(value))).not.toContain("swordfish");
      }),
    );
  });
});

const SURPLUS = "this version of the controller does not know this field: upgrade the controller";

const full = {
  ...transaction(
    { ...patch, resourceVersion: "5", target: { ...target, namespace: "shop" } },
    { type: "Delete", target },
  ),
  status: {
    phase: "Committing",
    journal: { name: "j", uid: "1" },
    recovery: { attempts: 1 },
    snapshots: [{ kind: "ConfigMap", name: "s", uid: "2", digest: "sha256:0" }],
    items: [{ prepared: true, uid: "3", resourceVersion: "4", snapshot: { store: "s", key: "k" } }, { error: "no" }],
    conditions: [{ type: "Ready", status: "False", reason: "R", message: "", lastTransitionTime: "" }],
  },
};

interface Spot {
  readonly path: string;
  readonly at: Record<string, unknown>;
}

/** Every object in a value, but for what a user may write freely. */
const spots = (value: unknown, path: string): readonly Spot[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => spots(item, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  const at = value as Record<string, unknown>;
  const inner = Object.entries(at).filter(([name]) => name !== "content" && !(path === "" && name === "metadata"));
  return [{ path, at }, ...inner.flatMap(([name, one]) => spots(one, path === "" ? name : `${path}.${name}`))];
};

/** Names that are not surplus, wherever else they stand. */
const KNOWN = "apiVersion kind metadata spec status content resourceVersion namespace".split(" ");

describe("a field that only a later version of the controller knows", () => {
  const name = fc.oneof(
    fc.constantFrom("retries", "__proto__", "constructor", "toString", "a.b", "length"),
    fc.stringMatching(/^[a-z][A-Za-z0-9]{0,9}x$/u),
  );

  it("is refused wherever in a spec or status it is, and whatever its value, with its path", () => {
    const places = spots(full, "").length;
    expect(places).toBe(14);
    fc.assert(
      fc.property(fc.nat({ max: places - 1 }), name, fc.jsonValue(), (which, name, value) => {
        const stored = structuredClone(full);
        const spot = spots(stored, "")[which];
        if (spot === undefined) throw new Error(`there are not so many: ${which}`);
        const { at, path } = spot;
        fc.pre(![...Object.keys(at), ...KNOWN].includes(name));
        Object.defineProperty(at, name, { value, enumerable: true });
        expect(faults(stored)).toBe(`${path === "" ? "" : `${path}.`}${name}: ${SURPLUS}`);
      }),
      { numRuns: 1000 },
    );
  });

  it("is told from what is wrong in any version", () => {
    const errors = Transaction.decode({ ...transaction({ ...patch, type: "Swap", retries: 3 }) });
    expect(E.isLeft(errors) && errors.left.map(isLater)).toEqual([false, true]);
  });

  it("may be in the content, and in metadata", () => {
    const content = { waitFor: 1, metadata: { waitFor: 1 } } satisfies JsonObject;
    const stored = transaction({ ...patch, content });
    expect(faults({ ...stored, metadata: { ...metadata, managedFields: [], selfLink: "" } })).toBe("none");
  });
});

const said = (formatVersion: unknown): string => faults({ ...transaction(patch), status: { formatVersion } });

describe("the format of a status", () => {
  it.each([undefined, null, 1])("that is %s is the first", (formatVersion) => {
    expect(said(formatVersion)).toBe("none");
  });

  it("that is later is refused as such, and stays what it is", () => {
    const stored = { ...transaction(patch), status: { formatVersion: 2 } };
    expect(faults(stored)).toBe(
      "status.formatVersion: is 2, and this version of the controller knows 1: upgrade the controller",
    );
    const errors = Transaction.decode(stored);
    expect(E.isLeft(errors) && errors.left.map(isLater)).toEqual([true]);
  });

  it.each([0, -1, 1.5, "2", [2]])("cannot be %j", (formatVersion) => {
    const errors = Transaction.decode({ ...transaction(patch), status: { formatVersion } });
    expect(E.isLeft(errors) && errors.left.map(isLater)).toEqual([false]);
  });
});
