import type { Change } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { forwardIn } from "../../../packages/controller/src/core/state/observations.ts";
import type { Position } from "../../../packages/controller/src/core/state/journal.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { type Answer, change, checkpoints, former, later, observing, refused, underway } from "./underway.ts";
import type { ApiError } from "@janus/types";

/** A 404 that says of no object that it is not there. */
const nowhere = (notFound?: "path"): Answer => {
  const fault: ApiError = { type: "refused", code: 404, reason: "", message: "no such page", causes: [] };
  return E.left(notFound === undefined ? fault : { ...fault, notFound });
};

/** Nothing serves the kinds any more, or something stands in front of the API server and says so. */
const without = (kinds: "unserved" | "hidden", wrote: readonly ApiCall[] = []) => {
  const asked = [...wrote];
  const checkpoint = checkpoints();
  const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
    asked.push(ask);
    if (ask.purpose === "checkpoint") return checkpoint(at, ask);
    if (ask.as === "serviceAccount") return nowhere(kinds === "unserved" ? "path" : undefined);
    return ask.call.verb === "get" ? refused(404) : E.right(former("ConfigMap", "x"));
  };
  return { answer, asked };
};

const back = (changes: readonly Change[]): Position => ({
  direction: "back",
  cursor: changes.length - 1,
  reached: changes.length,
  since: NOW,
});

const ITEM = "the API server does not serve Widget in v1";

describe("a kind that is served no more", () => {
  it.each(["Create", "Update", "Patch", "Delete"] as const)(
    "is not rolled back: a %s ends as Failed, and says so",
    (type) => {
      const changes = [change(type, "a", "Widget")];
      const { at } = later(
        underway("RollingBack", changes, back(changes)),
        60_000,
        without("unserved").answer,
        "unserved",
      );
      expect(at.txn.status).toMatchObject({ phase: "Failed", items: [{ state: { type: "rollback-failed" } }] });
      expect(JSON.stringify(at.txn.status.items)).toContain(ITEM);
    },
  );

  it.each(["Create", "Update", "Patch", "Delete"] as const)(
    "cannot be changed: a %s is not made, and what is in is rolled back",
    (type) => {
      const start = underway("Committing", [change(type, "a", "Widget")], { direction: "forward", cursor: 0 });
      const { at } = later(start, 60_000, without("unserved").answer, "unserved");
      expect(at.txn.status).toMatchObject({ phase: "RolledBack" });
      expect(JSON.stringify(at.txn.status.conditions)).toContain(ITEM);
    },
  );

  it.each(["Create", "Update", "Patch", "Delete"] as const)(
    "tells nothing of a %s that was not answered: it is undecided",
    (type) => {
      const start = observing(
        underway("Committing", [change(type, "a", "Widget")], { direction: "forward", cursor: 0 }),
        { 0: { forward: { write: { type: "unanswered", sent: NOW } } } },
      );
      const { at } = later(start, 60_000, without("unserved").answer, "unserved");
      expect(at.txn.status).toMatchObject({ phase: "Failed", items: [{ state: { type: "unknown" } }] });
    },
  );

  it("is waited for no longer than half a minute where an earlier change has brought it", () => {
    const crd: Change = {
      type: "Create",
      target: { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: "widgets.x.io" },
      content: {
        spec: {
          group: "x.io",
          names: { kind: "Widget", plural: "widgets" },
          scope: "Namespaced",
          versions: [{ name: "v1" }],
        },
      },
    };
    const widget: Change = {
      type: "Create",
      target: { apiVersion: "x.io/v1", kind: "Widget", name: "a" },
      content: {},
    };
    const changes = [crd, widget];
    const start = underway("RollingBack", changes, back(changes));
    const unserved = {
      ...start,
      known: { ...start.known, resources: new Map(start.known.resources).set("x.io/v1/Widget", null) },
    };
    const { answer } = without("unserved");
    const { at } = later(unserved, 20_000, answer, "unserved");
    expect(at.txn.status.phase).toBe("RollingBack");
    const { asked } = later(at, 20_000, answer, "unserved");
    expect(asked.filter(({ purpose }) => purpose === "checkpoint").map(({ call }) => call)).toContainEqual(
      expect.objectContaining({
        body: expect.objectContaining({
          data: expect.objectContaining({ "note-1": expect.stringContaining("Widget shop/a") as string }) as object,
        }) as object,
      }),
    );
  });
});

it("takes no Delete for another client's that a proxy has passed on and answered as if nothing were served there", () => {
  const start = underway("Committing", [change("Delete", "a")], { direction: "forward", cursor: 0 });
  const checkpoint = checkpoints();
  let isDeleted = false;
  const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
    if (ask.purpose === "checkpoint") return checkpoint(at, ask);
    if (ask.call.place.name !== "a") return E.right(former("ConfigMap", "x"));
    if (ask.call.verb === "delete" && !isDeleted) {
      isDeleted = true;
      return nowhere("path");
    }
    return isDeleted ? refused(404) : E.right(former("ConfigMap", "a"));
  };
  expect(later(start, 60_000, answer, "served").at.txn.status.phase).toBe("Committed");
});

describe("a page of something that stands in front of the API server", () => {
  it.each(["Create", "Update", "Patch", "Delete"] as const)(
    "does not mean absence: the rollback of a %s waits for an answer",
    (type) => {
      const changes = [change(type, "a")];
      const { at, asked } = later(
        underway("RollingBack", changes, back(changes)),
        60_000,
        without("hidden").answer,
        "served",
      );
      expect(at.txn.status).toMatchObject({ phase: "RollingBack" });
      expect(asked.filter(({ purpose }) => purpose === "checkpoint" || purpose === "restore")).toEqual([]);
    },
  );

  it.each(["Create", "Update", "Patch", "Delete"] as const)("settles nothing: a %s stays in doubt", (type) => {
    const start = underway("Committing", [change(type, "a")], { direction: "forward", cursor: 0 });
    const { at } = later(start, 60_000, without("hidden").answer, "served");
    expect(at.txn.status).toMatchObject({ phase: "Committing" });
    expect(forwardIn(at.known, 0).write).toMatchObject({ type: "unanswered" });
  });

  it("is no reason to take over a lock, nor for a lock to be lost", () => {
    const holder = "shop/other/9f1c6f0e-2f6b-4c3e-9d3a-0d8a5b1c7e42";
    const lease = former("Lease", "lock", { spec: { holderIdentity: holder, leaseDurationSeconds: 300 } });
    const start = observing(underway("RollingBack", [change("Patch", "a")], back([change("Patch", "a")])), {
      0: { lock: undefined },
    });
    const { asked } = later(
      start,
      60_000,
      ({ purpose }) => {
        if (purpose === "lock") return refused(409);
        return purpose === "read-lock" ? E.right(lease) : nowhere();
      },
      "served",
    );
    expect(asked.filter(({ purpose }) => purpose === "read-holder").length).toBeGreaterThan(1);
    // But it is told what is waited for.
    const written = asked.filter(({ call, purpose }) => call.verb === "mergePatch" && purpose !== "record");
    expect(written).toEqual([]);
  });

  it("is not a journal that is missing", () => {
    const start = underway("RollingBack", [change("Patch", "a")], back([change("Patch", "a")]));
    const { journal: _, ...known } = start.known;
    const { asked } = later({ ...start, known }, 10_000, () => nowhere(), "served");
    expect(new Set(asked.map(({ purpose }) => purpose))).toEqual(new Set(["read-journal"]));
  });
});
