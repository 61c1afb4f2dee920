import { type ResolvedChange, fieldManager } from "@janus/api";
import { describe, expect, it } from "vitest";
import { changeBody } from "../../../packages/controller/src/core/merge/write-body.ts";
import type { JsonObject, KubeObject } from "@janus/types";
import {
  sameButStatus,
  resolveInDoubt,
  type InDoubtVerdict,
} from "../../../packages/controller/src/core/forward/in-doubt.ts";
import { apply, post, put } from "./thing-server.ts";
import { seen } from "./underway.ts";
import { author, manager, place, plain, thing } from "./thing.ts";
import { showPaths } from "../../../packages/controller/src/core/merge/show-path.ts";

const target = { apiVersion: "v1", kind: "Thing", name: "thing" };
const holding = (data: JsonObject): KubeObject => thing({ data });

const before = post(holding({ a: "1", b: "1" }), "kubectl");
const varied = (metadata: object, object: KubeObject = before): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});
const edit = (data: object, object: KubeObject = before): KubeObject => put(object, { ...object, data }, "person");

const patch: ResolvedChange = { type: "Patch", target, content: { data: { a: "2" } } };
const update: ResolvedChange = { type: "Update", target, content: { data: { a: "2" } } };
const create: ResolvedChange = { type: "Create", target, content: { data: { a: "2" } } };
const remove: ResolvedChange = { type: "Delete", target };

const patched = apply(before, changeBody(patch, place, before, author), manager);
const updated = put(before, changeBody(update, place, before, author), manager);
const created = varied({ managedFields: [{ manager, operation: "Update" }], uid: "o-2" }, holding({ a: "2" }));
const foreign = varied({ uid: "o-9" }, post(holding({ a: "2" }), "person"));
const status = varied({ resourceVersion: "9" }, { ...before, status: { phase: "x" } });
const going = varied({ resourceVersion: "2", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/y"] });

type Row = readonly [
  what: string,
  change: ResolvedChange,
  was: KubeObject | undefined,
  created: string | undefined,
  seen: KubeObject | undefined,
  verdict: InDoubtVerdict,
];

const undecided = (why: string): InDoubtVerdict => ({ type: "unknown", why });
const out = (object: KubeObject | undefined): InDoubtVerdict => ({ type: "not-applied", object });
const overtaken = (object: KubeObject | undefined, ...fields: readonly (readonly string[])[]): InDoubtVerdict => ({
  type: "conflict",
  object,
  fields,
});

const rows: readonly Row[] = [
  ["nothing there", create, undefined, undefined, undefined, out(undefined)],
  ["our mark", create, undefined, undefined, created, { type: "applied", created: "o-2" }],
  [
    "the uid that was recorded, even without a mark",
    create,
    undefined,
    "o-9",
    foreign,
    { type: "applied", created: "o-9" },
  ],
  [
    "nothing there any more, of what was recorded",
    create,
    undefined,
    "o-2",
    undefined,
    { type: "applied", created: "o-2" },
  ],
  [
    "another object in place of the recorded one",
    create,
    undefined,
    "o-2",
    foreign,
    { type: "applied", created: "o-2" },
  ],
  [
    "another client's object",
    create,
    undefined,
    undefined,
    foreign,
    undecided("an object of this name exists whose managedFields do not name this Transaction"),
  ],
  ["nothing there", remove, before, undefined, undefined, { type: "applied" }],
  ["finalizers that hold it", remove, before, undefined, going, { type: "terminating", finalizers: ["x/y"] }],
  [
    "foreground deletion without finalizers to name",
    remove,
    before,
    undefined,
    varied({ deletionTimestamp: "2026-01-01T00:00:00Z" }),
    { type: "terminating", finalizers: [] },
  ],
  ["the object as it was", remove, before, undefined, before, out(before)],
  ["only another status", remove, before, undefined, status, out(status)],
  [
    "an edit of anything else",
    remove,
    before,
    undefined,
    edit({ a: "1", c: "1" }),
    overtaken(edit({ a: "1", c: "1" })),
  ],
  [
    "another object of that name",
    remove,
    before,
    undefined,
    foreign,
    undecided("it was deleted and created again by another client"),
  ],
  ...[patch, update].flatMap((change): readonly Row[] => [
    ["nothing there", change, before, undefined, undefined, overtaken(undefined)],
    ["another object of that name", change, before, undefined, foreign, overtaken(undefined)],
    ["the object as it was", change, before, undefined, before, out(before)],
    ["only another status", change, before, undefined, status, out(status)],
    [
      "an edit of a field of ours",
      change,
      before,
      undefined,
      edit({ a: "3", b: "1" }),
      {
        ...overtaken(edit({ a: "3", b: "1" }), ["f:data", "f:a"]),
        // A Patch of nothing else would leave no mark there.
        ...(change === patch ? { mayBeApplied: true } : {}),
      },
    ],
  ]),
  ["our mark", patch, before, undefined, patched, { type: "applied" }],
  [
    "our mark, and an edit of another field since",
    patch,
    before,
    undefined,
    edit({ a: "2", b: "3" }, patched),
    { type: "applied" },
  ],
  ["our mark", update, before, undefined, updated, { type: "applied" }],
  [
    "our mark, and an edit of all that we set",
    update,
    before,
    undefined,
    edit({ a: "3" }, updated),
    { type: "applied" },
  ],
  ["an edit of another field", patch, before, undefined, edit({ a: "1", b: "3" }), overtaken(edit({ a: "1", b: "3" }))],
  [
    "an edit of a field that it would remove",
    update,
    before,
    undefined,
    edit({ a: "1", b: "3" }),
    overtaken(edit({ a: "1", b: "3" }), ["f:data", "f:b"]),
  ],
  [
    "a new field, which it would remove",
    update,
    before,
    undefined,
    edit({ a: "1", b: "1", c: "1" }),
    overtaken(edit({ a: "1", b: "1", c: "1" }), []),
  ],
];

/** What others make of what tells whose a field is. */
const cleared = (object: KubeObject): KubeObject => varied({ managedFields: [], resourceVersion: "7" }, object);
const without = (object: KubeObject, name: string): KubeObject =>
  varied(
    {
      managedFields: (object.metadata.managedFields ?? []).filter((entry) => entry.manager !== name),
      resourceVersion: "7",
    },
    object,
  );
const heaped = (object: KubeObject): KubeObject =>
  varied(
    {
      managedFields: (object.metadata.managedFields ?? []).map((entry) =>
        entry.manager === manager ? { ...entry, manager: "ancient-changes" } : entry,
      ),
    },
    object,
  );
const applied = (object: KubeObject): KubeObject => apply(object, { ...object, data: { z: "1" } }, "applier");

describe("a change in doubt, made, after which its mark has gone", () => {
  it.each<[string, ResolvedChange, KubeObject]>(
    (
      [
        [patch, patched],
        [update, updated],
      ] as const
    ).flatMap(([change, made]) => [
      ["managedFields was cleared", change, cleared(made)],
      ["it was cleared, and somebody has edited another field", change, edit({ a: "2", z: "1" }, cleared(made))],
      ["it was cleared, and somebody has edited our field", change, edit({ a: "3" }, cleared(made))],
      ["it was cleared, and somebody has applied since", change, applied(cleared(made))],
      ["only our entry was taken out", change, without(made, manager)],
      ["our entry was put on the heap of ancient changes", change, heaped(made)],
    ]),
  )("is not taken for not made when %s (%o)", (_, change, object) => {
    expect(resolveInDoubt(change, place, before, undefined, seen(object), author)).toMatchObject({
      type: "conflict",
      mayBeApplied: true,
    });
  });

  it.each([patch, update])("is not in when everything is as it was, whoever has written since: %o", (change) => {
    const object = cleared(before);
    expect(resolveInDoubt(change, place, before, undefined, seen(object), author)).toEqual({
      type: "not-applied",
      object,
    });
  });
});

/** Times of managedFields are of the moment, and mean nothing here. */
const timeless = (verdict: InDoubtVerdict): unknown =>
  JSON.parse(JSON.stringify(verdict, (key, value: unknown) => (key === "time" ? undefined : value)));

describe("a change in doubt", () => {
  it.each(rows.map((row) => [row[1].type, ...row] as const))(
    "%s, when the target shows %s",
    (_, __, change, was, uid, object, verdict) => {
      const found = resolveInDoubt(change, place, was, uid, seen(object), author);
      expect(timeless(found)).toEqual(timeless(verdict));
    },
  );

  it("leaves no trace of another Transaction for ours", () => {
    const other = { name: author.name, uid: "u-other" };
    const theirs = apply(before, changeBody(patch, place, before, other), fieldManager(other));
    expect(resolveInDoubt(patch, place, before, undefined, seen(theirs), author)).toMatchObject({
      type: "conflict",
    });
  });
});

const changing = (type: "Patch" | "Update", status?: object): ResolvedChange => ({
  type,
  target,
  content: { data: { a: "2" }, ...(status === undefined ? {} : { status }) } as JsonObject,
});

describe("of an object whose status is a part of it, when somebody has changed that since", () => {
  const was = post(thing({ data: { a: "1" }, status: { phase: "old", seen: "1" } }), "kubectl");
  const settled = (change: ResolvedChange, now: object) =>
    resolveInDoubt(change, plain, was, undefined, seen(put(was, { ...was, status: now }, "person")), author);

  it.each<[string, ResolvedChange, object, object]>([
    ["does not set", changing("Patch"), { phase: "theirs", seen: "1" }, { type: "not-applied" }],
    ["does not set", changing("Update"), { phase: "theirs", seen: "1" }, { type: "not-applied" }],
    [
      "sets otherwise",
      changing("Patch", { phase: "new" }),
      { phase: "theirs", seen: "1" },
      { type: "conflict", fields: [["f:status", "f:phase"]] },
    ],
    [
      "sets another field of",
      changing("Patch", { phase: "new" }),
      { phase: "old", seen: "2" },
      { type: "conflict", fields: [] },
    ],
    [
      "sets as a whole",
      changing("Update", { phase: "new" }),
      { phase: "old", seen: "1", more: "1" },
      { type: "conflict", fields: [[]] },
    ],
  ])("a change that %s it: %o", (_, change, now, verdict) => {
    expect(settled(change, now)).toMatchObject(verdict);
  });
});

describe("two versions of an object", () => {
  it.each<readonly [string, KubeObject, boolean]>([
    ["bookkeeping", varied({ resourceVersion: "9", generation: 2, managedFields: [] }), true],
    ["status", status, true],
    ["data", holding({ a: "2" }), false],
    ["a label", varied({ labels: { a: "b" } }), false],
    ["a finalizer", varied({ finalizers: ["a/b"] }), false],
    ["an owner", varied({ ownerReferences: [] }), false],
  ])("that differ in %s", (_, other, same) => {
    expect(sameButStatus(before, other, place)).toBe(same);
    expect(sameButStatus(before, other, plain)).toBe(same);
  });
});

it("fields are shown in a list, the whole object by its name", () => {
  expect(showPaths([["f:data", "f:a"], []])).toBe(".data.a, the object");
});
