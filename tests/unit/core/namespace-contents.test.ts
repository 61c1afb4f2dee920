import { namespaces } from "@janus/types";
import { journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import { expect, it } from "vitest";
import type { ObjectRef } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";
import type { Unlisted } from "../../../packages/controller/src/core/state/listings.ts";
import type { UndoContext } from "../../../packages/controller/src/core/undo/undo-context.ts";
import { contents, unseen } from "../../../packages/controller/src/core/undo/namespace-contents.ts";
import { NOW } from "./arbitrary-situation.ts";
import { change, former, observing, seen, underway } from "./underway.ts";

const LONG = 60_000;

/** A Namespace that the change has created, in which some kinds could not be listed for long. */
const held = (...unlisted: readonly string[]) => contents(inside(unlisted));

const inside = (unlisted: readonly string[], isDenied: Pick<Unlisted, "isDenied"> = {}): UndoContext => {
  const created = change("Create", "inside", "Namespace");
  const at = underway("RollingBack", [created], { direction: "back", cursor: 0, reached: 1, since: NOW });
  const journal = journalIn(at.known);
  if (journal === undefined) throw new Error("no journal");
  const place: ObjectRef = { resource: namespaces, name: "inside" };
  const found = {
    owned: [],
    unlisted: unlisted.map((resource) => ({ resource, why: "HTTP 503", mayComeYet: true, ...isDenied })),
    since: NOW - LONG,
    readAt: NOW,
  };
  const context = observing(at, { 0: { rollback: { contents: found } } });
  return { index: 0, change: created, place, context, journal, seen: seen(former("Namespace", "inside")) };
};

it("may go where everything in it could be listed, and nothing is of others", () => {
  expect(held()).toBeUndefined();
});

it("is left alone if it is unknown whether it contains objects of other clients", () => {
  expect(held("configmaps", "widgets.example.com")).toEqual({
    type: "rollback-failed",
    error:
      "Namespace inside may contain objects of other clients: configmaps, widgets.example.com could not be listed (HTTP 503)",
  });
});

it("may go where the ServiceAccount may not list what is in it, and this is said", () => {
  const going = inside(["configmaps", "widgets.example.com"], { isDenied: true });
  expect(contents(going)).toBeUndefined();
  expect(unseen(going)).toBe(
    "Namespace inside: its rollback may have deleted objects of kinds that the ServiceAccount may not list (configmaps, widgets.example.com)",
  );
  expect(unseen(inside(["configmaps"]))).toBeUndefined();
});
