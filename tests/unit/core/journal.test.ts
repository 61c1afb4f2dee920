import type { ItemState } from "@janus/api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeJournal,
  type Entry,
  type Journal,
  journalPatch,
  journalPlace,
  mostStoreNames,
  newJournal,
  type Note,
  type Position,
  type Renewed,
  stateOf,
} from "../../../packages/controller/src/core/state/journal.ts";
import { arbitraryJson } from "./arbitrary-json.ts";
import { arbitraryText } from "./arbitrary-text.ts";
import { transaction, UID } from "./transaction.ts";
import type { KubeObject } from "@janus/types";

const CHANGES = 5;
const txn = transaction([{ type: "Delete", target: { apiVersion: "v1", kind: "Secret", name: "gone" } }]);
const forward = (cursor: number): Position => ({ direction: "forward", cursor });

const index = fc.nat({ max: CHANGES - 1 });
const position: fc.Arbitrary<Position> = fc.oneof(
  fc.nat({ max: CHANGES }).map(forward),
  fc.tuple(fc.nat({ max: CHANGES }), fc.nat({ max: CHANGES }), fc.nat()).map(
    ([reached, back, since]): Position => ({
      direction: "back",
      cursor: Math.max(-1, reached - 1 - back),
      reached,
      since,
    }),
  ),
);
const text = arbitraryText({ minLength: 1, maxLength: 10 });
const note: fc.Arbitrary<Note> = fc.record({
  type: fc.constantFrom("rejected", "unknown", "rollback-failed", "restored"),
  error: arbitraryText(),
});
const renewed: fc.Arbitrary<Renewed> = fc.record({
  before: fc.record({
    existed: fc.constant(true),
    uid: text,
    resourceVersion: text,
    snapshot: fc.record({ store: text, key: text }),
  }),
  stores: fc.array(fc.record({ kind: fc.constantFrom("ConfigMap", "Secret"), name: text, uid: text, digest: text }), {
    minLength: 1,
    maxLength: 2,
  }),
}) as fc.Arbitrary<Renewed>;
const entry: fc.Arbitrary<Entry> = fc.record(
  {
    position,
    created: fc.array(fc.tuple(index, text), { maxLength: 3 }).map((all) => new Map(all)),
    notes: fc.array(fc.tuple(index, note), { maxLength: 3 }).map((all) => new Map(all)),
    renewed: fc.tuple(index, renewed),
    storeNames: fc.integer({ min: 1, max: 100 }),
  },
  { requiredKeys: [] },
);

const stored = (body: object, version: string): KubeObject => {
  const object = body as KubeObject;
  return { ...object, metadata: { ...object.metadata, uid: "j-1", resourceVersion: version } };
};

/** The ConfigMap after a merge patch, as the API server keeps it. */
const patched = (object: KubeObject, patch: object, version: string): KubeObject => {
  const { data } = JSON.parse(JSON.stringify(patch)) as { readonly data: object };
  return stored({ ...object, data: { ...(object["data"] as object), ...data } }, version);
};

const decoded = (object: KubeObject): Journal => {
  const journal = decodeJournal(object, CHANGES);
  if (journal === undefined) throw new Error("no journal");
  return journal;
};

const begun = stored(newJournal(txn, { position: forward(0) }, 3), "1");

describe("the journal", () => {
  it("begins where it is told to, under a name of its Transaction's own", () => {
    expect(begun).toMatchObject({
      kind: "ConfigMap",
      metadata: {
        name: `janus-journal-${UID}`,
        namespace: "shop",
        labels: {
          "app.kubernetes.io/managed-by": "janus",
          "janus.io/transaction": "deploy-v2",
          "janus.io/transaction-uid": UID,
        },
      },
    });
    expect(journalPlace(txn)).toMatchObject({ namespace: "shop", name: `janus-journal-${UID}` });
    expect(decodeJournal(begun, CHANGES)).toEqual({
      version: { uid: "j-1", resourceVersion: "1" },
      position: forward(0),
      created: new Map(),
      replaced: new Map(),
      notes: new Map(),
      doubted: new Map(),
      deferred: new Map(),
      renewed: new Map(),
      storeNames: 3,
    });
  });

  it.each([
    ["7", 7],
    ["1e9", mostStoreNames(CHANGES)],
    ["-1", 0],
    ["1.5", 0],
    ['"3"', 0],
    ["x", 0],
    [undefined, 0],
  ])("has as many names for stores as a Transaction can have at most, whatever is written there: %s", (text, count) => {
    const data = { position: JSON.stringify(forward(0)), "store-names": text };
    expect(decodeJournal({ ...begun, data }, CHANGES)?.storeNames).toBe(count);
  });

  it("holds after any entries the last of each, and is written only from the version that was read", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
        const object = entries.reduce((at, one, n) => {
          const patch = journalPatch(decoded(at), one);
          expect(patch).toMatchObject({ metadata: { uid: "j-1", resourceVersion: at.metadata.resourceVersion } });
          return patched(at, patch, `${n + 2}`);
        }, begun);
        const journal = decoded(object);
        expect(journal.position).toEqual(
          entries.findLast(({ position }) => position !== undefined)?.position ?? forward(0),
        );
        expect(journal.created).toEqual(new Map(entries.flatMap(({ created }) => [...(created ?? [])])));
        expect(journal.storeNames).toBe(
          entries.findLast(({ storeNames }) => storeNames !== undefined)?.storeNames ?? 3,
        );
        expect(journal.notes).toEqual(new Map(entries.flatMap(({ notes }) => [...(notes ?? [])])));
        expect(journal.renewed).toEqual(
          new Map(entries.flatMap(({ renewed }) => (renewed === undefined ? [] : [renewed]))),
        );
      }),
    );
  });
});

/** What a hand, or a lost piece, may make of the data. */
const data = fc.oneof(
  arbitraryJson,
  fc
    .array(
      fc.tuple(
        fc.oneof(
          fc.constantFrom("position", "created-0", "created-", "created-x", "created-1e0", "created--1", "created-99"),
          fc.constantFrom("note-0", "note-1", "note-x", "note-", "renewed-0", "renewed-4", "renewed-5", "renewed-0.5"),
        ),
        fc.oneof(
          arbitraryJson.map((json) => JSON.stringify(json)),
          arbitraryJson,
          position.map((at) => JSON.stringify(at)),
          position.map((at) => JSON.stringify(at).slice(0, -3)),
          note.map((one) => JSON.stringify(one)),
          renewed.map((one) => JSON.stringify(one)),
          fc.tuple(renewed, arbitraryJson).map(([one, json]) => JSON.stringify({ ...one, before: json })),
          fc.tuple(renewed, arbitraryJson).map(([one, json]) => JSON.stringify({ ...one, stores: [json] })),
          fc.constantFrom(
            '{"direction":"back","cursor":4,"reached":1,"since":0}',
            '{"direction":"forward","cursor":6}',
          ),
          fc.constantFrom(
            '{"direction":"forward","cursor":0.5}',
            '{"direction":"back","cursor":-2,"reached":1,"since":0}',
          ),
        ),
      ),
      { maxLength: 6 },
    )
    .map((entries) => ({ position: JSON.stringify(forward(1)), ...Object.fromEntries(entries) })),
);

const isIndex = (at: number): boolean => Number.isInteger(at) && at >= 0 && at < CHANGES;

describe("a journal that was edited by hand, or cut off", () => {
  it("is a journal all the same, or is none; never half of one", () => {
    fc.assert(
      fc.property(data, (data) => {
        const journal = decodeJournal({ ...begun, data }, CHANGES);
        if (journal === undefined) return;
        const { position, created, notes, renewed } = journal;
        const inOrder =
          position.direction === "forward"
            ? [0, position.cursor, CHANGES]
            : [-1, position.cursor, position.reached - 1, CHANGES - 1];
        expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
        expect([...created.keys(), ...notes.keys(), ...renewed.keys()].filter((at) => !isIndex(at))).toEqual([]);
        for (const { type: at, error } of notes.values()) expect([at, typeof error]).toEqual([at, "string"]);
        for (const { before, stores } of renewed.values()) {
          const { existed, uid, resourceVersion, snapshot } = before;
          expect(existed).toBe(true);
          for (const one of [uid, resourceVersion, snapshot?.store, snapshot?.key]) expect(one).toBeTypeOf("string");
          for (const { kind, ...store } of stores) {
            expect(["ConfigMap", "Secret"]).toContain(kind);
            for (const one of [store.name, store.uid, store.digest]) expect(one).toBeTypeOf("string");
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["without a position", {}],
    ["at no change", { position: '{"direction":"forward","cursor":6}' }],
    ["between two changes", { position: '{"direction":"forward","cursor":0.5}' }],
    ["that goes back to where it was never", { position: '{"direction":"back","cursor":3,"reached":3,"since":0}' }],
    ["that goes nowhere", { position: '{"direction":"on","cursor":0}' }],
    ["cut off", { position: '{"direction":"forward","cur' }],
  ])("is none %s", (_, data) => {
    expect(decodeJournal({ ...begun, data }, CHANGES)).toBeUndefined();
  });

  const whole = {
    before: { existed: true, uid: "o-1", resourceVersion: "5", snapshot: { store: "s", key: "k" } },
    stores: [{ kind: "ConfigMap", name: "s", uid: "s-1", digest: "sha256:0" }],
  };
  it.each<readonly [string, unknown, number]>([
    ["whole", whole, 1],
    ["without what was before", { stores: whole.stores }, 0],
    ["of no object", { ...whole, before: { ...whole.before, uid: 1 } }, 0],
    ["of no version", { ...whole, before: { ...whole.before, resourceVersion: undefined } }, 0],
    ["in no store", { ...whole, before: { ...whole.before, snapshot: { key: "k" } } }, 0],
    ["under no key", { ...whole, before: { ...whole.before, snapshot: { store: "s" } } }, 0],
    ["without stores", { ...whole, stores: "s" }, 0],
    ["in a store of another kind", { ...whole, stores: [{ ...whole.stores[0], kind: "Lease" }] }, 0],
    ["in a store without digest", { ...whole, stores: [{ ...whole.stores[0], digest: null }] }, 0],
  ])("has a newer snapshot only if that is whole: one %s", (_, renewed, count) => {
    const data = { position: JSON.stringify(forward(1)), "renewed-0": JSON.stringify(renewed) };
    expect(decodeJournal({ ...begun, data }, CHANGES)?.renewed.size).toBe(count);
  });

  it("is none without a version to write it from", () => {
    for (const metadata of [{ uid: "j-1" }, { resourceVersion: "1" }, {}])
      expect(decodeJournal({ ...begun, metadata }, CHANGES)).toBeUndefined();
  });
});

const present = { existed: true, uid: "o-1", resourceVersion: "5", snapshot: { store: "s", key: "k" } } as const;
const absent = { existed: false } as const;
const prepared: ItemState = { type: "prepared", before: present };
const error = "no";

const journal = (position: Position, more: Partial<Journal> = {}): Journal => ({
  version: { uid: "j-1", resourceVersion: "1" },
  position,
  created: new Map(),
  replaced: new Map(),
  notes: new Map(),
  doubted: new Map(),
  deferred: new Map(),
  renewed: new Map(),
  storeNames: 0,
  ...more,
});
const back = (cursor: number, reached: number): Position => ({ direction: "back", cursor, reached, since: 0 });
const deferral = { error, since: 0 };

const states: readonly (readonly [string, ItemState, number, Journal, ItemState])[] = [
  [
    "on the way back, set aside: still in",
    prepared,
    2,
    journal(back(1, 3), { deferred: new Map([[2, deferral]]) }),
    { type: "committed", before: present },
  ],
  ["before the cursor: in", prepared, 1, journal(forward(2)), { type: "committed", before: present }],
  ["at the cursor: perhaps on its way", prepared, 2, journal(forward(2)), prepared],
  ["behind the cursor: not yet", prepared, 3, journal(forward(2)), prepared],
  [
    "made: with its uid",
    { type: "prepared", before: absent },
    0,
    journal(forward(1), { created: new Map([[0, "o-2"]]) }),
    { type: "committed", before: absent, created: "o-2" },
  ],
  [
    "made, and projected: with its uid",
    { type: "committed", before: absent, created: "o-2" },
    0,
    journal(forward(1)),
    { type: "committed", before: absent, created: "o-2" },
  ],
  [
    "with a newer snapshot",
    prepared,
    0,
    journal(forward(1), { renewed: new Map([[0, { before: { ...present, resourceVersion: "6" }, stores: [] }]]) }),
    { type: "committed", before: { ...present, resourceVersion: "6" } },
  ],
  ["on the way back, not reached: never made", prepared, 3, journal(back(1, 3)), prepared],
  [
    "on the way back, behind the cursor: restored",
    prepared,
    2,
    journal(back(1, 3)),
    { type: "restored", before: present },
  ],
  [
    "on the way back, at the cursor: still in",
    prepared,
    1,
    journal(back(1, 3)),
    { type: "committed", before: present },
  ],
  ["on the way back, before the cursor: in", prepared, 0, journal(back(1, 3)), { type: "committed", before: present }],
  ["all the way back", prepared, 0, journal(back(-1, 3)), { type: "restored", before: present }],
  [
    "that could not be rolled back",
    prepared,
    2,
    journal(back(1, 3), { notes: new Map([[2, { type: "rollback-failed", error }]]) }),
    { type: "rollback-failed", before: present, error },
  ],
  [
    "that was made and could not be taken away",
    { type: "prepared", before: absent },
    2,
    journal(back(1, 3), { notes: new Map([[2, { type: "rollback-failed", error }]]), created: new Map([[2, "o-2"]]) }),
    { type: "rollback-failed", before: absent, created: "o-2", error },
  ],
  [
    "restored with a warning, under its new uid",
    prepared,
    2,
    journal(back(1, 3), { notes: new Map([[2, { type: "restored", error }]]), created: new Map([[2, "o-2"]]) }),
    { type: "restored", before: present, created: "o-2", error },
  ],
  [
    "refused for good",
    prepared,
    3,
    journal(back(2, 3), { notes: new Map([[3, { type: "rejected", error }]]) }),
    { type: "rejected", before: present, error },
  ],
  [
    "undecided, as the status recorded before the journal turned round",
    { type: "unknown", before: present, error },
    2,
    journal(forward(2)),
    { type: "unknown", before: present, error },
  ],
  ["of a status that was lost", { type: "untouched" }, 0, journal(forward(1)), { type: "committed", before: absent }],
];

describe("what the journal says of a change", () => {
  it.each(states)("%s", (_, recorded, at, known, state) => {
    expect(stateOf(recorded, at, known)).toEqual(state);
  });

  it("has once said that it is in, does not say otherwise but by undoing it", () => {
    fc.assert(
      fc.property(index, fc.nat({ max: CHANGES }), (at, cursor) => {
        const was = stateOf(prepared, at, journal(forward(cursor)));
        expect(stateOf(was, at, journal(forward(Math.min(cursor + 1, CHANGES))))).toEqual(
          at <= cursor ? { type: "committed", before: present } : prepared,
        );
      }),
    );
  });
});

it.each(["rejected", "unknown", "rollback-failed", "restored"] as const)(
  "records a note under its own name: %s",
  (type) => {
    const data = { position: JSON.stringify(forward(1)), "note-0": JSON.stringify({ type, error: "no" }) };
    const stored: KubeObject = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { uid: "j", resourceVersion: "1" },
      data,
    };
    const journal = decodeJournal(stored, CHANGES);
    expect(journal?.notes.get(0)).toEqual({ type, error: "no" });
    const patch = journal && journalPatch(journal, { notes: new Map([[0, { type, error: "no" }]]) });
    expect(patch).toMatchObject({ data: { "note-0": data["note-0"] } });
  },
);
