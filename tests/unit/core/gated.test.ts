import { type Change, fieldManager, type Metadata, REQUEST_ROLLBACK, type Status, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { assert, describe, expect, it } from "vitest";
import { withChange, withoutRead, journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import { atRest } from "../../../packages/controller/src/core/state/idle-memory.ts";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall, Effect } from "../../../packages/controller/src/core/state/effect.ts";
import { projected } from "../../../packages/controller/src/core/state/status-update.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { toTimestamp } from "../../../packages/types/src/time.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import {
  type Answer,
  change,
  checkpoints,
  former,
  later,
  observing,
  refused,
  type Story,
  underway,
} from "./underway.ts";
import { type ApiError, asObject, type KubeObject } from "@janus/types";
import { learn, unanswered } from "./learn.ts";

const begun = { direction: "forward", cursor: 0 } as const;

const GATE = "jsonpath={.data.ok}=yes";

const gated = (one: Change): Change => (one.type === "Delete" ? one : { ...one, waitFor: [GATE] });

/** As the change of this Transaction has left it. */
const made = (name: string, ok = "no"): KubeObject =>
  former("ConfigMap", name, {
    data: { ok },
    metadata: { managedFields: [{ manager: fieldManager({ name: "x", uid: UID }), operation: "Apply" }] },
  });

/** Answers of an API server that has these targets and the journal, and makes every change. */
const server = (...targets: readonly KubeObject[]) => {
  const journal = checkpoints();
  return (ask: ApiCall, at: ReconcileContext): Answer => {
    if (ask.purpose === "journal" || ask.purpose === "checkpoint") return journal(at, ask);
    if (ask.purpose === "change") return E.right(made(ask.call.place.name));
    const target = targets.find(({ metadata }) => metadata.name === ask.call.place.name);
    return target === undefined ? refused(404) : E.right(target);
  };
};

const changed = ({ asked }: Story): readonly string[] =>
  asked.filter(({ purpose }) => purpose === "change").map(({ call }) => call.place.name);

const effects = (at: ReconcileContext): readonly Effect[] => {
  const step = decide(at);
  return step.type === "run" ? step.effects : [];
};

/** Of its changes, the first one alone. */
const withFirstOnly = ({ spec, status, ...rest }: Transaction): Transaction => ({
  ...rest,
  spec: { ...spec, changes: spec.changes.slice(0, 1) },
  status: { ...status, items: status.items.slice(0, 1) },
});

/** The status with which it begins to roll back. */
const rollingBack = ({ asked }: Story): unknown =>
  asked
    .map(({ call }) => ("body" in call ? asObject(asObject(call.body)["status"]) : {}))
    .find(({ phase }) => phase === "RollingBack");

const ready = ({ at }: Story): string | undefined =>
  at.txn.status.conditions.find(({ type }) => type === "Ready")?.message;

/** As of another process, of which only the status is left, and no write that may still take effect. */
const lost = (changes: readonly Change[], items: Status["items"] = []): ReconcileContext => {
  const start = underway("Committing", changes, begun, { journal: { type: "missing", since: NOW - 60_000 } });
  const recorded = start.txn.status.items.map((item, index) => items[index] ?? item);
  return { ...start, txn: { ...start.txn, status: { ...start.txn.status, items: recorded } } };
};

describe("where the journal was lost", () => {
  it("rolls back what was made after a gate, though that is not met any more", () => {
    const all = server(made("a"), made("b"));
    const start = lost([gated(change("Patch", "a")), change("Patch", "b"), change("Create", "c")]);
    const story = later(start, 30_000, (ask, at) => (ask.purpose === "change" ? refused(422) : all(ask, at)));
    expect(rollingBack(story)).toMatchObject({
      items: [{ state: "Applied" }, { state: "Applied" }, { state: "NotApplied" }],
    });
  });

  it("sends no change before the gates of the one before, though it dies as soon as there is a journal again", () => {
    const all = server(made("a"));
    const changes = [gated(change("Patch", "a")), change("Create", "b")];
    const before = { existed: true, uid: "uid-of-a", resourceVersion: "1" } as const;
    // A read of the target of the second change, and the journal.
    const died = later(lost(changes, [{ state: { type: "committed", before } }]), 2, all).at;
    const position = journalIn(died.known)?.position;
    assert(position !== undefined);
    // For all that the next process knows, the change at the cursor may have been sent.
    const next = observing(underway("Committing", changes, position), {
      1: { forward: { write: { type: "unanswered", sent: NOW } } },
    });
    const story = later(next, 60_000, all);
    expect(changed(story)).toEqual([]);
    expect(ready(story)).toBe(
      'waiting for ConfigMap shop/a: jsonpath={.data.ok}=yes: ConfigMap a: {.data.ok} is "no", not "yes"',
    );
  });

  it("knows what it created by the status", () => {
    const changes = [gated(change("Create", "a")), change("Create", "b")];
    const items: Status["items"] = [{ state: { type: "committed", before: { existed: false }, created: "uid-of-a" } }];
    const story = later(lost(changes, items), 60_000, server(made("a", "yes")));
    expect(story.at.txn.status.phase).toBe("Committed");
  });
});

/** The first change is in, and its target is waited for. */
const awaiting = (gate: string): ReconcileContext => {
  const changes: readonly Change[] = [{ ...change("Patch", "a"), waitFor: [gate] }, change("Create", "b")];
  return underway("Committing", changes, { direction: "forward", cursor: 1, gatedSince: NOW });
};

describe("while it waits", () => {
  const another = { ...made("a"), metadata: { ...made("a").metadata, uid: "uid-of-another" } };
  // Objects have the uid that the former one had, unless another is put in its place.
  const replaced = (ask: ApiCall, at: ReconcileContext): Answer =>
    ask.purpose === "read-target" && ask.call.place.name === "a" ? E.right(another) : server(made("b"))(ask, at);

  it("for the deletion of the target, takes another object of its name for no obstacle", () => {
    const story = later(awaiting("delete"), 60_000, replaced);
    expect(story.at.txn.status.phase).toBe("Committed");
  });

  it("for anything else of it, takes no other object of its name for it", () => {
    const both = awaiting("delete");
    const [first, ...others] = both.txn.spec.changes;
    assert(first !== undefined && first.type !== "Delete");
    const spec = { ...both.txn.spec, changes: [{ ...first, waitFor: ["delete", "create"] }, ...others] };
    const story = later({ ...both, txn: { ...both.txn, spec } }, 60_000, replaced);
    expect(rollingBack(story)).toMatchObject({
      items: [{ error: expect.stringContaining("was deleted and created again by another client") as unknown }, {}],
    });
  });

  it("says what for when spec.timeout has passed", () => {
    const start = awaiting(GATE);
    const story = later(start, start.txn.spec.timeout + 1000, server(made("a")));
    expect(JSON.stringify(rollingBack(story))).toContain(
      JSON.stringify(
        'spec.timeout passed with 1 of 2 changes applied, waiting for jsonpath={.data.ok}=yes: ConfigMap a: {.data.ok} is "no", not "yes"',
      ).slice(1, -1),
    );
  });

  it("looks at the target once more when spec.timeout has passed: nobody has told that it is as it should be", () => {
    const start = awaiting(GATE);
    const { timeout } = start.txn.spec;
    const alone = { ...start, txn: withFirstOnly(start.txn) };
    const [former, present] = [server(made("a")), server(made("a", "yes"))];
    const met = start.now + timeout - 1000;
    const story = later(alone, timeout + 1000, (ask, at) => (at.now < met ? former : present)(ask, at));
    expect(story.at.txn.status.phase).toBe("Committed");
  });

  it.each([
    ["spec.timeout", undefined, "spec.timeout passed with 1 of 2 changes applied, waiting for "],
    ["its waitTimeout", 60_000, "was not met within its waitTimeout: "],
  ])(
    "gives it up when %s has passed, though the API of the target is down and says nothing",
    (_, waitTimeout, words) => {
      const start = awaiting(GATE);
      const [first, ...others] = start.txn.spec.changes;
      assert(first !== undefined && first.type !== "Delete");
      const changes = [waitTimeout === undefined ? first : { ...first, waitTimeout }, ...others];
      const spec = { ...start.txn.spec, timeout: waitTimeout === undefined ? 60_000 : 600_000, changes };
      const all = server(made("a"));
      const story = later({ ...start, txn: { ...start.txn, spec } }, 120_000, (ask, at) =>
        ask.purpose === "read-target" && ask.call.place.name === "a" ? refused(503) : all(ask, at),
      );
      const back = JSON.stringify(rollingBack(story));
      expect(back).toContain(words);
      expect(back).toContain("ConfigMap shop/a cannot be read: ");
    },
  );

  it.each([
    ["spec.timeout", undefined],
    ["its waitTimeout", 60_000],
  ])("looks at it, where a controller takes over only a while after %s has passed", (_, waitTimeout) => {
    const start = awaiting(GATE);
    const [first] = start.txn.spec.changes;
    assert(first !== undefined && first.type !== "Delete");
    const changes = [waitTimeout === undefined ? first : { ...first, waitTimeout }];
    const txn = withFirstOnly({ ...start.txn, spec: { ...start.txn.spec, changes } });
    const now = NOW + (waitTimeout ?? txn.spec.timeout) + 15_000;
    const taken = { ...start, txn, now, known: { ...start.known, since: now } };
    const all = server(made("a", "yes"));
    expect(later(taken, 60_000, all).at.txn.status.phase).toBe("Committed");
    // The first answer may be that the API server is not ready yet.
    const soon: typeof all = (ask, at) =>
      ask.purpose === "read-target" && at.now < now + 5000 ? refused(503) : all(ask, at);
    expect(later(taken, 60_000, soon).at.txn.status.phase).toBe("Committed");
  });

  it("says which time has passed, where spec.timeout is over first", () => {
    const changes: readonly Change[] = [
      change("Delete", "v", "PersistentVolume"),
      { ...change("Patch", "a"), waitFor: [GATE] },
    ];
    const start = underway("Committing", changes, { direction: "forward", cursor: 2, gatedSince: NOW });
    const txn = { ...start.txn, spec: { ...start.txn.spec, timeout: 5000 } };
    const story = later({ ...start, txn }, 60_000, server(made("a")));
    expect(JSON.stringify(rollingBack(story))).toContain("was not met within spec.timeout: ConfigMap a: ");
  });

  it("says once what for, however long that is", () => {
    const { asked } = later(awaiting(`jsonpath={.data['${".".repeat(900)}']}=yes`), 60_000, server(made("a")));
    expect(asked.filter(({ purpose }) => purpose === "record")).toHaveLength(1);
  });

  it("reads once more what has changed while it was read, or who knows when it would be looked at again", () => {
    const at = awaiting(GATE);
    const [read] = effects(at);
    assert(read !== undefined && "call" in read);
    const [sent, changed, answered] = [NOW + 1, NOW + 2, NOW + 3];
    const known = learn({ ...at, known: withoutRead(at.known, 0, changed) }, read, E.right(made("a")), answered, sent);
    expect(effects({ ...at, known, now: answered })).toMatchObject([{ purpose: "read-target" }]);
  });

  it("reads again what could not be read, when there is a reason to look", () => {
    const at = restored();
    const known = withChange(at.known, 0, { gate: { unreadable: "no" } });
    expect(effects({ ...at, known: withoutRead(known, 0, NOW) })).toMatchObject([{ purpose: "read-target" }]);
  });

  it("reads no more than otherwise where the clock of the process that made the change was ahead", () => {
    const { known, ...rest } = awaiting(GATE);
    const { journal: _, ...anew } = known;
    const position = JSON.stringify({ direction: "forward", cursor: 1, gatedSince: NOW + 20_000 });
    const all = server(made("a"));
    const { asked } = later({ ...rest, known: anew }, 10_000, (ask, at) =>
      ask.purpose === "read-journal"
        ? E.right({ ...former("ConfigMap", "journal"), data: { position } })
        : all(ask, at),
    );
    expect(asked.filter(({ purpose }) => purpose === "read-target")).toHaveLength(1);
  });
});

/** All changes are in, and the gates of all but the last are waited for. */
const atTheEnd = (): ReconcileContext => {
  const changes: readonly Change[] = [gated(change("Patch", "a")), gated(change("Patch", "b")), change("Patch", "c")];
  const start = underway("Committing", changes, { direction: "forward", cursor: 3, gatedSince: NOW });
  return { ...start, txn: { ...start.txn, spec: { ...start.txn.spec, waitAt: "End" } } };
};

describe("at the end", () => {
  it("waits for all gates at the same time, and names how many", () => {
    const story = later(atTheEnd(), 10_000, server(made("a"), made("b"), made("c")));
    expect(ready(story)).toMatch(/^waiting for ConfigMap shop\/a: .* \(and 1 more\)$/);
    expect(story.at.txn.status.items.map(({ waiting }) => waiting !== undefined)).toEqual([true, true, false]);
  });

  it("commits when all are met, and records that first: snapshots are deleted then", () => {
    const story = later(atTheEnd(), 10_000, server(made("a", "yes"), made("b", "yes"), made("c")));
    expect(story.at.txn.status.phase).toBe("Committed");
    expect(story.asked.map(({ purpose }) => purpose).indexOf("checkpoint")).toBeLessThan(
      story.asked.map(({ purpose }) => purpose).lastIndexOf("record"),
    );
  });

  it("waits for none before, though the journal was lost", () => {
    const start = lost([gated(change("Patch", "a")), change("Patch", "b")]);
    const spec = { ...start.txn.spec, waitAt: "End" as const };
    const story = later({ ...start, txn: { ...start.txn, spec } }, 60_000, server(made("a"), made("b")));
    expect(ready(story)).toMatch(/^waiting for ConfigMap shop\/a: /);
    const position = journalIn(story.at.known)?.position;
    expect(position).toMatchObject({ cursor: 2, gatedSince: expect.any(Number) as unknown });
  });

  it("does not take for met what was met, and was reverted since", () => {
    const reverted: KubeObject = {
      ...former("ConfigMap", "a", { data: { ok: "yes" } }),
      metadata: {
        ...former("ConfigMap", "a").metadata,
        managedFields: [{ manager: "gitops", operation: "Apply", fieldsV1: { "f:data": { "f:set": {} } } }],
      },
    };
    const start = atTheEnd();
    const [first, ...others] = start.txn.spec.changes;
    assert(first !== undefined && first.type === "Patch");
    const changes = [{ ...first, content: { data: { set: "ours" } } }, ...others];
    const txn = { ...start.txn, spec: { ...start.txn.spec, changes } };
    const story = later(
      { ...start, txn },
      10_000,
      server({ ...reverted, data: { ok: "yes", set: "theirs" } }, made("b"), made("c")),
    );
    expect(rollingBack(story)).toMatchObject({
      items: [
        {
          error: expect.stringContaining(
            '.data.set of ConfigMap shop/a was modified by field manager "gitops"',
          ) as unknown,
          gateFailed: true,
        },
        {},
        {},
      ],
    });
  });
});

/** The statuses that it writes, one after the other. */
const statuses = ({ asked }: Story): readonly Readonly<Record<string, unknown>>[] =>
  asked.flatMap(({ call, purpose }) =>
    purpose === "record" && "body" in call ? [asObject(asObject(call.body)["status"])] : [],
  );

/** A Create is in, and has five seconds to meet its gate. */
const created = (): ReconcileContext => {
  const changes: readonly Change[] = [{ ...change("Create", "a"), waitFor: [GATE] }];
  const start = underway("Committing", changes, { direction: "forward", cursor: 1, gatedSince: NOW });
  const items: Status["items"] = [{ state: { type: "committed", before: { existed: false }, created: "uid-of-a" } }];
  const [first, ...others] = start.txn.spec.changes;
  assert(first !== undefined && first.type !== "Delete");
  const spec = { ...start.txn.spec, changes: [{ ...first, waitTimeout: 5000 }, ...others] };
  return { ...start, txn: { ...start.txn, spec, status: { ...start.txn.status, items } } };
};

describe("a gate that was not met", () => {
  const why =
    'waitFor jsonpath={.data.ok}=yes was not met within its waitTimeout: ConfigMap a: {.data.ok} is "no", not "yes"';
  it("is the error of its item, to the end, and nothing is waited for any more", () => {
    const [there, gone] = [server(made("a")), server()];
    let isDeleted = false;
    const story = later(created(), 60_000, (ask, at) => {
      isDeleted ||= ask.call.verb === "delete" && ask.call.place.name === "a";
      return (isDeleted && ask.call.place.name === "a" ? gone : there)(ask, at);
    });
    const back = statuses(story).find(({ phase }) => phase === "RollingBack");
    expect(back).toMatchObject({ items: [{ state: "Applied", error: why, gateFailed: true }], progress: "1/1" });
    expect(JSON.stringify(back)).not.toContain("waitingFor");
    expect(JSON.stringify(back)).not.toContain("waitingSince");
    const { status } = story.at.txn;
    expect(status).toMatchObject({ phase: "RolledBack", items: [{ state: { type: "restored" }, gateError: why }] });
    // It is not a warning of the rollback.
    expect(ready(story)).toMatch(/^every target is as it was before; rolled back because: changes\[0\]: waitFor /);
  });

  it("is no failure of its item when a rollback is requested while it is waited for", () => {
    const start = awaiting(GATE);
    const metadata = { ...start.txn.metadata, annotations: { [REQUEST_ROLLBACK]: "" } };
    const story = later({ ...start, txn: { ...start.txn, metadata } }, 1000, server(made("a")));
    expect(rollingBack(story)).toMatchObject({ items: [{ state: "Applied" }, { state: "Prepared" }] });
    expect(JSON.stringify(rollingBack(story))).not.toMatch(/gateFailed|waitFor|waitingFor/);
  });

  it("is the error of its item when spec.timeout ends the wait, with the last state that was seen", () => {
    const start = awaiting(GATE);
    const story = later(start, start.txn.spec.timeout + 1000, server(made("a")));
    expect(rollingBack(story)).toMatchObject({
      items: [
        {
          error: 'waitFor was not met: jsonpath={.data.ok}=yes: ConfigMap a: {.data.ok} is "no", not "yes"',
          gateFailed: true,
        },
        { state: "Prepared" },
      ],
    });
    expect(JSON.stringify(rollingBack(story))).not.toContain("waitingFor");
  });
});

describe("progress", () => {
  it("counts a change when its gates are met, whichever status is written meanwhile", () => {
    const changes: readonly Change[] = [change("Patch", "a"), { ...change("Patch", "b"), waitFor: [GATE] }];
    const start = underway("Committing", changes, { direction: "forward", cursor: 2, gatedSince: NOW });
    const waits = later(start, 10_000, server(made("a"), made("b")));
    expect(statuses(waits).map(({ progress }) => progress)).toEqual(["1/2"]);
    const now = NOW + 10_000;
    const changed = { ...waits.at, now, known: withoutRead(waits.at.known, 1, now) };
    const met = later(changed, 10_000, server(made("a"), made("b", "yes")));
    expect(met.at.txn.status).toMatchObject({ phase: "Committed", progress: "2/2" });
  });

  it("names the gates before the target was looked at for the first time", () => {
    const { txn, known } = awaiting(GATE);
    const journal = journalIn(known);
    assert(journal !== undefined);
    expect(projected(txn, journal, {})[0]?.waiting).toEqual({ gate: GATE, since: toTimestamp(NOW) });
  });
});

/** Everything is rolled back. */
const restored = (metadata: Partial<Metadata> = {}): ReconcileContext => {
  const start = underway("RollingBack", [change("Patch", "a")], {
    direction: "back",
    cursor: -1,
    reached: 1,
    since: NOW,
    restoredAt: NOW,
  });
  const { txn } = start;
  const spec = { ...txn.spec, deletionPolicy: "Rollback" as const, rollbackWaitFor: [GATE] };
  return { ...start, txn: { ...txn, metadata: { ...txn.metadata, ...metadata }, spec } };
};

describe("restored targets that do not get where rollbackWaitFor wants them", () => {
  it("are waited for", () => {
    const story = later(restored(), 5000, server(made("a")));
    expect(story.at.txn.status.phase).toBe("RollingBack");
  });

  it("are read and evaluated again only if they have changed, though the objects are not kept", () => {
    const names = Array.from({ length: 60 }, (_, at) => `a-${at}`);
    const position = { direction: "back", cursor: -1, reached: 60, since: NOW, restoredAt: NOW } as const;
    const start = underway(
      "RollingBack",
      names.map((name) => change("Patch", name)),
      position,
    );
    const txn = { ...start.txn, spec: { ...start.txn.spec, rollbackWaitFor: ["cel=self.data.ok == 'yes'"] } };
    let looks = 0;
    const objects = names.map((name): KubeObject => {
      const large = made(name, "x".repeat(1000));
      return {
        ...large,
        get data() {
          looks += 1;
          return { ok: "no" };
        },
      };
    });
    const { at } = later({ ...start, txn }, 5000, server(...objects));
    const { known } = atRest(at);
    expect([...known.changes.values()].filter(({ target }) => target !== undefined)).toEqual([]);
    looks = 0;
    const woken = { ...at, known: withoutRead(known, 7, NOW + 8000), now: NOW + 9000 };
    expect(effects(woken).map((one) => [one.purpose, "item" in one ? one.item : undefined])).toEqual([
      ["read-target", 7],
    ]);
    expect(looks).toBe(0);
  });

  it("are named on fifty of their items: a status has no room for more", () => {
    const names = Array.from({ length: 60 }, (_, at) => `a-${at}`);
    const position = { direction: "back", cursor: -1, reached: 60, since: NOW, restoredAt: NOW } as const;
    const start = underway(
      "RollingBack",
      names.map((name) => change("Patch", name)),
      position,
    );
    const txn = { ...start.txn, spec: { ...start.txn.spec, rollbackWaitFor: [GATE] } };
    const story = later({ ...start, txn }, 5000, server(...names.map((name) => made(name))));
    expect(story.at.txn.status.items.filter(({ waiting }) => waiting !== undefined)).toHaveLength(50);
    expect(ready(story)).toContain("(and 59 more)");
  });

  it.each([
    ["whose API is not available", 503],
    ["whose API answers with an error", 500],
  ])("%s are given up when rollbackWaitTimeout is over, and named", (_, code) => {
    const all = server();
    const story = later(restored(), 30 * 60_000, (ask, at) =>
      ask.purpose === "read-target" ? refused(code, "no endpoints") : all(ask, at),
    );
    const { phase, completedAt, conditions } = story.at.txn.status;
    expect(phase).toBe("RolledBack");
    expect(conditions.find(({ type }) => type === "Healthy")).toMatchObject({
      status: "False",
      message: expect.stringMatching(/^changes\[0\]: ConfigMap shop\/a: cannot be read: .*no endpoints/) as unknown,
    });
    expect(Date.parse(completedAt ?? "")).toBeLessThan(NOW + 10 * 60_000 + 5000);
  });

  it("are given up when rollbackWaitTimeout is over, though nobody knows where their kind is served", () => {
    const start = restored();
    const at = { ...start, now: NOW + 10 * 60_000, known: { ...start.known, resources: new Map() } };
    const [discover] = effects(at);
    assert(discover !== undefined && discover.purpose === "discover");
    const fault: ApiError = { type: "refused", code: 503, reason: "", message: "no endpoints", causes: [] };
    const known = unanswered(at, discover, fault, at.now);
    const { status } = later({ ...at, known }, 5000, server(), "served").at.txn;
    expect(status.phase).toBe("RolledBack");
    expect(status.conditions.find(({ type }) => type === "Healthy")).toMatchObject({
      status: "False",
      message: "changes[0]: cannot be read: no endpoints",
    });
  });

  it("are not healthy where their kind is not served any more", () => {
    const start = restored();
    const at = { ...start, known: { ...start.known, resources: new Map([["v1/ConfigMap", null]]) } };
    const { status } = later(at, 5000, server()).at.txn;
    expect(status.conditions.find(({ type }) => type === "Healthy")).toMatchObject({ status: "False" });
  });

  it("are looked at after the time is over, though they could not be read before", () => {
    const all = server(made("a", "yes"));
    const story = later(restored(), 30 * 60_000, (ask, at) =>
      ask.purpose === "read-target" && at.now < NOW + 10 * 60_000 ? refused(503) : all(ask, at),
    );
    expect(story.at.txn.status.conditions.find(({ type }) => type === "Healthy")).toMatchObject({ status: "True" });
  });

  it("are not waited for when the Transaction is deleted: nobody would read of it, and its namespace may have to go", () => {
    const deleted = restored({ deletionTimestamp: new Date(NOW).toISOString() });
    const { status } = later(deleted, 5000, server(made("a"))).at.txn;
    expect(status.phase).toBe("RolledBack");
    expect(status.conditions.find(({ type }) => type === "Healthy")).toBeUndefined();
  });
});
