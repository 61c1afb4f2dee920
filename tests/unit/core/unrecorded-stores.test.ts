import { UID_LABEL } from "@janus/api";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { toBase64 } from "../../../packages/controller/src/core/kubernetes/base64.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { mostStoreNames, type Position } from "../../../packages/controller/src/core/state/journal.ts";
import { UID } from "./transaction.ts";
import {
  allowed,
  type Answer,
  change,
  former,
  later,
  observingAll,
  refused,
  seen,
  tried,
  underway,
} from "./underway.ts";
import { asObject, type KubeObject } from "@janus/types";

const store = (name: string, uid: string): KubeObject =>
  former("ConfigMap", name, { metadata: { labels: { [UID_LABEL]: uid } } });

/** What is under the first names for stores: of a former Transaction of this name, and what a process of ours did not live to record. */
const there: Readonly<Record<string, KubeObject>> = {
  "deploy-v2-rollback": store("deploy-v2-rollback", "another"),
  "deploy-v2-rollback-1": former("ConfigMap", "deploy-v2-rollback-1"),
  "deploy-v2-rollback-2": store("deploy-v2-rollback-2", UID),
};

const answer = ({ call }: ApiCall): Answer => {
  const { resource, name } = call.place;
  const object = resource.kind === "ConfigMap" ? there[name] : undefined;
  return object === undefined ? refused(404) : E.right(object);
};

it("of ours are looked for behind what others have under such names", () => {
  const start = underway(
    "Failed",
    [change("Create", "a")],
    { direction: "forward", cursor: 0 },
    { begun: true, journal: { type: "missing" } },
  );
  const { asked, at } = later(start, 60_000, answer);
  const deleted = asked.filter(({ purpose, call }) => purpose === "release-store" && call.verb === "delete");
  expect(deleted.map(({ call }) => call.place.name)).toEqual(["deploy-v2-rollback-2"]);
  expect(at.txn.metadata.finalizers).toEqual([]);
});

it("are let go of before the journal, which says under which names there may be some", () => {
  const start = underway("Failed", [change("Create", "a")], { direction: "forward", cursor: 0 });
  const { asked } = later(start, 60_000, answer);
  const deleted = asked.filter(({ call }) => call.verb === "delete").map(({ call }) => call.place.name);
  expect(deleted).toContain("deploy-v2-rollback-2");
  expect(deleted.indexOf(`janus-journal-${UID}`)).toBe(deleted.length - 1);
});

const NAMES = 6;
const nameOf = (n: number): string => (n === 0 ? "deploy-v2-rollback" : `deploy-v2-rollback-${n}`);
/** What each name is by now: free, another's, or ours. */
const names = fc.array(fc.constantFrom("free", "another", UID), { minLength: NAMES, maxLength: NAMES });
const journalOf = (position: Position, storeNames: number): KubeObject => ({
  ...former("ConfigMap", `janus-journal-${UID}`),
  data: { position: JSON.stringify(position), "store-names": `${storeNames}` },
});

it("are found and taken away, whichever of the names that the journal has are free by now", () => {
  fc.assert(
    fc.property(names, fc.constantFrom("ConfigMap", "Secret"), (is, kind) => {
      const begun = { direction: "forward", cursor: 0 } as const;
      const { journal: _, ...known } = underway("Failed", [change("Create", "a")], begun).known;
      const start = { ...underway("Failed", [change("Create", "a")], begun), known };
      const { asked, at } = later(start, 60_000, ({ purpose, call: { place, verb } }) => {
        if (purpose === "read-journal") return E.right(journalOf(begun, NAMES));
        const n = is.findIndex((_, at) => nameOf(at) === place.name);
        const uid = place.resource.kind === kind ? is[n] : undefined;
        if (uid === undefined || uid === "free" || verb === "delete") return refused(404);
        return E.right(former(kind, place.name, { metadata: { labels: { [UID_LABEL]: uid } } }));
      });
      const deleted = asked.filter(({ purpose, call }) => purpose === "release-store" && call.verb === "delete");
      expect(new Set(deleted.map(({ call }) => call.place.name))).toEqual(
        new Set(is.flatMap((uid, n) => (uid === UID ? [nameOf(n)] : []))),
      );
      expect(at.txn.metadata.finalizers).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

/** A store as the API server keeps it. */
const stored = (name: string, { stringData, data, metadata, ...fields }: KubeObject): KubeObject => {
  const texts = Object.entries(asObject(stringData) as Readonly<Record<string, string>>);
  return {
    ...fields,
    data: data ?? Object.fromEntries(texts.map(([key, text]) => [key, toBase64(text)] as const)),
    metadata: { ...metadata, uid: `uid-of-${name}`, resourceVersion: "1" },
  };
};

it("have their names in the journal before they are written, whichever are taken; but the first, which is looked at in any case", () => {
  fc.assert(
    fc.property(names, (is) => {
      const changes = [change("Delete", "a"), change("Delete", "s", "Secret")];
      const begun = { direction: "forward", cursor: 0 } as const;
      const locked = underway("Preparing", changes, begun, {
        begun: true,
        serviceAccount: "there",
        owned: new Map([["shop", []]]),
        journal: { type: "missing" },
      });
      const start = observingAll(locked, ({ target: { kind, name } }) => ({
        preflight: {
          permissions: allowed("get", "create", "update", "patch", "delete"),
          trial: tried(seen(former(kind, name))),
        },
        target: seen(former(kind, name)),
      }));
      const fresh = { ...start, txn: { ...start.txn, status: { ...start.txn.status, items: [] } } };
      let written = 0;
      const early: string[] = [];
      const stores: string[] = [];
      const answer = ({ purpose, call }: ApiCall, { now }: ReconcileContext): Answer => {
        const { name } = call.place;
        if (purpose === "journal" || purpose === "checkpoint") {
          const { data } = (call as { readonly body: { readonly data: Record<string, string> } }).body;
          written = Number(data["store-names"]);
          return E.right({ ...journalOf(begun, written), metadata: { uid: "j", resourceVersion: `${now}` } });
        }
        const n = is.findIndex((_, at) => nameOf(at) === name);
        const isTaken = n !== -1 && is[n] !== "free";
        if (purpose === "read-store")
          return E.right(former("ConfigMap", name, { metadata: { labels: { [UID_LABEL]: is[n] ?? "" } } }));
        if (purpose !== "store") return refused(404);
        const inJournal = Array.from({ length: written }, (_, at) => nameOf(at));
        if (name !== nameOf(0) && !inJournal.includes(name)) early.push(name);
        if (isTaken)
          return E.left({ type: "refused", code: 409, reason: "AlreadyExists", message: "exists", causes: [] });
        stores.push(name);
        return E.right(stored(name, (call as { readonly body: KubeObject }).body));
      };
      // After two names that were taken, there is a pause of a second.
      let at: ReconcileContext = fresh;
      for (let left = NAMES + 1; left > 0 && at.txn.status.snapshots.length === 0; left -= 1)
        ({ at } = later(at, 60, answer));
      expect(early).toEqual([]);
      expect(stores).toHaveLength(2);
      expect(at.txn.status.snapshots.map(({ name }) => name)).toEqual(stores);
    }),
    { numRuns: 60 },
  );
});

it("are looked for under the names alone that a Transaction can have, however many others have made objects of", () => {
  const begun = { direction: "forward", cursor: 0 } as const;
  const start = underway("Failed", [change("Create", "a")], begun, { begun: true, journal: { type: "missing" } });
  const { asked, at } = later(start, 5000, ({ purpose, call: { place } }) =>
    purpose === "read-store" ? E.right(former(place.resource.kind, place.name)) : refused(404),
  );
  const looks = asked.filter(({ purpose }) => purpose === "read-store");
  expect(looks.length).toBe(2 * mostStoreNames(1));
  expect(at.txn.metadata.finalizers).toEqual([]);
});
