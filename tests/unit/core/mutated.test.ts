import { fieldManager } from "@janus/api";
import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, checkpoints, former, later, refused, underway } from "./underway.ts";

const MINUTE = 60_000;
const manager = fieldManager({ name: "deploy-v2", uid: UID });
const marked = { managedFields: [{ manager, operation: "Update", fieldsV1: { "f:data": { "f:a": {} } } }] } as const;

type Changes = Parameters<typeof underway>[1];

/** All are in, and are rolled back. Admission annotates each object that is updated as long as `isSet` says so. */
const rolledBack = (
  changes: Changes,
  isSet: (there: ReadonlyMap<string, KubeObject>, now: number) => boolean,
  stuck: (ask: ApiCall, now: number) => Answer | undefined = () => undefined,
) => {
  const objects = new Map(
    changes.map(({ type, target: { kind, name } }): readonly [string, KubeObject] => [
      name,
      former(kind, name, { metadata: marked, ...(type === "Update" ? { data: { a: "new" } } : {}) }),
    ]),
  );
  const deleted: string[] = [];
  const checkpoint = checkpoints();
  const written = ({ call }: ApiCall, now: number): KubeObject => {
    const body = ("body" in call ? call.body : {}) as KubeObject;
    const annotations = isSet(objects, now) ? { by: "admission" } : undefined;
    const metadata = { ...body.metadata, namespace: "shop", ...(annotations === undefined ? {} : { annotations }) };
    return JSON.parse(JSON.stringify({ ...body, metadata })) as KubeObject;
  };
  const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
    if (ask.purpose === "checkpoint") return checkpoint(at, ask);
    const strange = stuck(ask, at.now);
    if (strange !== undefined) return strange;
    const { name } = ask.call.place;
    if (ask.purpose === "restore" && ask.call.verb === "delete") {
      deleted.push(name);
      objects.delete(name);
    } else if (ask.purpose === "restore") objects.set(name, written(ask, at.now));
    const object = objects.get(name);
    return object === undefined ? refused(404) : E.right(object);
  };
  const position = { direction: "back", cursor: changes.length - 1, reached: changes.length, since: NOW } as const;
  const { at, asked } = later(underway("RollingBack", changes, position), 20 * MINUTE, answer);
  const { phase, items } = at.txn.status;
  return {
    phase,
    warnings: items.flatMap(({ state }) => (state.type === "restored" ? [state.error ?? ""] : [state.type])),
    annotated: [...objects.values()].filter(({ metadata }) => metadata.annotations !== undefined).length,
    took: at.now - NOW,
    puts: asked.filter(({ purpose, call }) => purpose === "restore" && call.verb === "update").length,
    deleted,
  };
};

const named = (name: string): string =>
  `ConfigMap shop/${name}: the API server or admission sets .metadata.annotations: left unchanged`;

describe("what admission sets while earlier changes are in", () => {
  it("is restored after these, and after a moment in which it is still set", () => {
    let gone: number | undefined;
    const isSet = (there: ReadonlyMap<string, KubeObject>, now: number): boolean => {
      if (!there.has("policy")) gone ??= now;
      return gone === undefined || now < gone + 3000;
    };
    const changes = [change("Create", "policy"), change("Update", "a"), change("Update", "b")];
    expect(rolledBack(changes, isSet)).toMatchObject({ phase: "RolledBack", warnings: ["", "", ""], annotated: 0 });
  });

  it("is restored also where what sets it is created by a change after it", () => {
    let gone: number | undefined;
    const isSet = (there: ReadonlyMap<string, KubeObject>, now: number): boolean => {
      if (!there.has("policy")) gone ??= now;
      return gone === undefined || now < gone + 3000;
    };
    expect(rolledBack([change("Update", "a"), change("Create", "policy")], isSet)).toMatchObject({
      phase: "RolledBack",
      warnings: ["", ""],
      annotated: 0,
    });
  });

  it("is named if it is set again, and many such items take no longer than one", () => {
    const names = Array.from({ length: 20 }, (_, n) => `a${n}`);
    const { phase, warnings, took, puts } = rolledBack(
      [change("Create", "other"), ...names.map((name) => change("Update", name))],
      () => true,
    );
    expect([phase, warnings]).toEqual(["RolledBack", ["", ...names.map(named)]]);
    expect(took).toBeLessThan(20_000);
    expect(puts).toBeLessThan(names.length * 2 + 12);
  });

  it("does not wait for an earlier change that waits for it", () => {
    const changes = [change("Create", "role", "Role"), change("Update", "a"), change("Update", "b")];
    const { phase, warnings, deleted, took } = rolledBack(changes, () => true);
    expect([phase, warnings, deleted]).toEqual(["RolledBack", ["", named("a"), named("b")], ["role"]]);
    expect(took).toBeLessThan(20_000);
  });

  it("waits for an earlier one that is deferred", () => {
    const { phase, warnings, annotated } = rolledBack(
      [change("Create", "other"), change("Create", "policy"), change("Update", "a"), change("Update", "b")],
      (there) => there.has("policy"),
      (ask, now) =>
        ask.purpose === "restore" && ask.call.place.name === "policy" && now < NOW + 3 * MINUTE
          ? E.left({ type: "refused", code: 500, reason: "InternalError", message: "no", causes: [] })
          : undefined,
    );
    expect([phase, warnings, annotated]).toEqual(["RolledBack", ["", "", "", ""], 0]);
  });
});
