import { type Before, emptyStatus, encodeStatus, type Item, Status } from "@janus/api";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../core/arbitrary-text.ts";

const text = fc.string({ maxLength: 40 });
const error = fc.string({ unit: "grapheme", maxLength: 20 });
const record = <T, K extends keyof T>(model: { [P in keyof T]: fc.Arbitrary<T[P]> }, requiredKeys: K[]) =>
  fc.record(model, { requiredKeys });

const before: fc.Arbitrary<Before> = fc.oneof(
  fc.constant({ existed: false } as const),
  fc.record({
    existed: fc.constant(true as const),
    uid: fc.uuid(),
    resourceVersion: text,
    snapshot: fc.record({ store: text, key: text }),
  }),
);
const at = <const A extends string>(...names: A[]) => fc.constantFrom(...names);
const state: fc.Arbitrary<Item["state"]> = fc.oneof(
  fc.record({ type: at("untouched") }),
  fc.record({ type: at("refused"), error }),
  fc.record({ type: at("prepared"), before }),
  fc.record({ type: at("unknown", "rejected"), before, error }),
  record({ type: at("committed"), before, created: fc.uuid() }, ["type", "before"]),
  record({ type: at("rollback-failed"), before, created: fc.uuid(), error }, ["type", "before", "error"]),
  record({ type: at("restored"), before, created: fc.uuid(), error }, ["type", "before"]),
);
const status: fc.Arbitrary<Status> = record(
  {
    phase: at("Pending", "Preparing", "Prepared", "Committing", "Committed", "RollingBack", "RolledBack", "Failed"),
    version: fc.nat(),
    observedGeneration: fc.nat(),
    startedAt: text,
    completedAt: text,
    progress: text,
    rollbackRef: text,
    journal: fc.record({ name: text, uid: fc.uuid() }),
    snapshots: fc.array(fc.record({ kind: at("ConfigMap", "Secret"), name: text, uid: fc.uuid(), digest: text }), {
      maxLength: 3,
    }),
    items: fc.array(record({ lock: fc.record({ lease: text, namespace: text }), state }, ["state"]), { maxLength: 5 }),
    conditions: fc.array(
      record(
        {
          type: fc.string({ minLength: 1 }),
          status: at("True", "False", "Unknown"),
          reason: fc.string({ minLength: 1 }),
          message: text,
          lastTransitionTime: text,
          observedGeneration: fc.nat(),
        },
        ["type", "status", "reason", "message", "lastTransitionTime"],
      ),
      { maxLength: 3 },
    ),
  },
  ["phase", "version", "snapshots", "items", "conditions"],
);

const bytes = (value: string): number => new TextEncoder().encode(value).length;
const errorsOf = (items: readonly Item[]): unknown => {
  const encoded = encodeStatus({ ...emptyStatus, items })["items"];
  return Array.isArray(encoded) ? encoded.map((item: { readonly error?: string }) => item.error ?? "") : encoded;
};

describe("a status", () => {
  it("is the same after the way to the wire, through JSON, and back", () => {
    fc.assert(
      fc.property(status, (value) => {
        expect(Status.decode(JSON.parse(JSON.stringify(encodeStatus(value))))).toEqual(E.right(value));
      }),
    );
  });

  it("that is empty on the wire is one of a Transaction that is pending", () => {
    expect(Status.decode({})).toEqual(
      E.right({ phase: "Pending", version: 0, snapshots: [], items: [], conditions: [] }),
    );
  });

  it("cuts an error to 256 bytes and never through a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 200, maxLength: 600 }), (error) => {
        const [kept = ""] = errorsOf([{ state: { type: "refused", error } }]) as readonly string[];
        expect(bytes(kept)).toBeLessThanOrEqual(256);
        expect(kept.isWellFormed()).toBe(true);
        const isWhole = kept === error;
        expect(isWhole).toBe(bytes(error) <= 256);
        expect(isWhole || (error.startsWith(kept.slice(0, -1)) && kept.endsWith("…") && bytes(kept) > 252)).toBe(true);
      }),
    );
  });
});
