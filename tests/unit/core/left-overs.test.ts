import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Ask } from "../../../packages/controller/src/core/effect.ts";
import type { KubeObject } from "../../../packages/controller/src/core/object.ts";
import { UID_LABEL } from "../../../packages/controller/src/core/snapshot.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, former, later, refused, underway } from "./underway.ts";

const store = (name: string, uid: string): KubeObject =>
  former("ConfigMap", name, { metadata: { labels: { [UID_LABEL]: uid } } });

/** What is under the first names for stores: of a former Transaction of this name, and what a process of ours did not live to record. */
const there: Readonly<Record<string, KubeObject>> = {
  "deploy-v2-rollback": store("deploy-v2-rollback", "another"),
  "deploy-v2-rollback-1": former("ConfigMap", "deploy-v2-rollback-1"),
  "deploy-v2-rollback-2": store("deploy-v2-rollback-2", UID),
};

const answer = ({ call }: Ask): Answer => {
  const { resource, name } = call.place;
  const object = resource.kind === "ConfigMap" ? there[name] : undefined;
  return object === undefined ? refused(404) : E.right(object);
};

it("of ours are looked for behind what others have under such names", () => {
  const start = underway(
    "Failed",
    [change("Create", "a")],
    { direction: "forward", cursor: 0 },
    { begun: true, journal: { at: "missing" } },
  );
  const { asked, at } = later(start, 60_000, answer);
  const deleted = asked.filter(({ purpose, call }) => purpose === "release-store" && call.verb === "delete");
  expect(deleted.map(({ call }) => call.place.name)).toEqual(["deploy-v2-rollback-2"]);
  expect(at.txn.metadata.finalizers).toEqual([]);
});

it("are let go of before the journal, which names those that are recorded: without it a name that is free ends the search", () => {
  const start = underway("Failed", [change("Create", "a")], { direction: "forward", cursor: 0 });
  const { asked } = later(start, 60_000, answer);
  const deleted = asked.filter(({ call }) => call.verb === "delete").map(({ call }) => call.place.name);
  expect(deleted).toContain("deploy-v2-rollback-2");
  expect(deleted.indexOf(`janus-journal-${UID}`)).toBe(deleted.length - 1);
});
