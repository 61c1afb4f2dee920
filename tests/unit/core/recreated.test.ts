import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { RECREATED_MARK } from "../../../packages/controller/src/core/merge/write-body.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { withChange, journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, checkpoints, former, later, refused, underway } from "./underway.ts";
import type { KubeObject, ManagedFieldsEntry } from "@janus/types";

const was = former("ConfigMap", "a", { data: { a: "old", b: "old" } });

type Marks = readonly ManagedFieldsEntry[];

/** As long as its fields are not given back to their owners. */
const unfinished: Marks = [
  {
    manager: fieldManager({ name: "deploy-v2", uid: UID }),
    operation: "Update",
    fieldsV1: RECREATED_MARK,
  },
];

const created = (data: object, managedFields: Marks = []): KubeObject => ({
  ...was,
  data,
  metadata: { ...was.metadata, uid: "new-uid", resourceVersion: "7", managedFields },
});

/** What is said in the end of a rollback, of which the journal knows the new uid if a former process has recorded it. */
const said = (answer: (ask: ApiCall) => Answer, uid?: string): string => {
  const at = underway("RollingBack", [change("Delete", "a")], { direction: "back", cursor: 0, reached: 1, since: NOW });
  const journal = journalIn(at.known);
  if (journal === undefined) throw new Error("no journal");
  const known = {
    ...withChange(at.known, 0, { before: was }),
    journal: {
      type: "read" as const,
      journal: { ...journal, ...(uid === undefined ? {} : { created: new Map([[0, uid]]) }) },
    },
  };
  const checkpoint = checkpoints();
  const story = later({ ...at, known }, 10_000, (ask, at) =>
    ask.purpose === "checkpoint" ? checkpoint(at, ask) : answer(ask),
  );
  const { phase, conditions } = story.at.txn.status;
  return `${phase}: ${conditions.find(({ type }) => type === "Ready")?.message}`;
};

const bodyOf = ({ call }: ApiCall): KubeObject => ("body" in call ? call.body : {}) as KubeObject;

/** The write as admission makes it. */
const mutated = (ask: ApiCall, data: object): ApiCall => ({
  ...ask,
  call: { ...ask.call, body: { ...bodyOf(ask), data } } as ApiCall["call"],
});

/** Stores what is written, and what another client makes of it after it was created. */
const server = (start: KubeObject | undefined, edited?: object) => {
  let object = start;
  return (ask: ApiCall): Answer => {
    const { verb } = ask.call;
    if (ask.purpose !== "restore") return object === undefined ? refused(404) : E.right(object);
    const { data, metadata } = bodyOf(ask);
    const isLate = verb === "update" && metadata.resourceVersion !== object?.metadata.resourceVersion;
    if (isLate) return refused(409);
    const written = created(data as object, metadata.managedFields);
    object = written;
    if (verb === "create" && edited !== undefined)
      object = { ...written, data: edited, metadata: { ...written.metadata, resourceVersion: "8" } };
    return E.right(written);
  };
};

/** It was stored. */
const lost: Answer = E.left({ type: "unanswered", cause: "connection", message: "reset" });

const CHANGED =
  "RolledBack: rolled back, except for changes[0]: ConfigMap shop/a: the API server, admission or another client has set other values for .data.a; ";
const REMOVED =
  "RolledBack: rolled back, except for changes[0]: ConfigMap shop/a: the API server did not restore, or another client has removed, .data.b; ";

describe("an object that was created again by a former process", () => {
  it("is as before, where it is", () => {
    expect(said(server(created({ a: "old", b: "old" })), "new-uid")).toMatch(
      /^RolledBack: every target is as it was before; /,
    );
  });

  it.each([
    ["and given back to its owners", []],
    ["and is not given back to its owners yet", unfinished],
  ])("%s: nobody knows who has changed what differs in it, or removed it", (_, marks) => {
    expect(said(server(created({ a: "other", b: "old" }, marks)), "new-uid")).toContain(CHANGED);
    expect(said(server(created({ a: "old" }, marks)), "new-uid")).toContain(REMOVED);
  });
});

describe("an object that is created again", () => {
  it("is said to be what the API server has made of it", () => {
    const store = server(undefined);
    const told = said((ask) => store(ask.call.verb === "create" ? mutated(ask, { a: "other" }) : ask));
    expect(told).toContain(
      "ConfigMap shop/a: the API server or admission has set other values for .data.a; the API server did not restore .data.b; ",
    );
  });

  it.each([
    ["changes", { a: "theirs", b: "old" }, "every target is as it was before; "],
    [
      "removes",
      { a: "old" },
      "rolled back, except for changes[0]: ConfigMap shop/a: another client has removed .data.b; ",
    ],
  ])("is not said to be changed by the API server where another client %s a field meanwhile", (_, data, told) => {
    expect(said(server(undefined, data))).toContain(`RolledBack: ${told}`);
  });

  it.each([
    ["changes", { a: "theirs", b: "old" }, CHANGED],
    ["removes", { a: "old" }, REMOVED],
  ])(
    "without an answer: nobody knows who has changed it, where another client %s a field meanwhile",
    (_, data, told) => {
      const store = server(undefined, data);
      expect(
        said((ask) => {
          const answer = store(ask);
          return ask.call.verb === "create" ? lost : answer;
        }),
      ).toContain(told);
    },
  );

  it("is not said to be changed by admission where another client has changed just that since", () => {
    const store = server(undefined, { a: "theirs", b: "old" });
    const told = said((ask) => store(ask.call.verb === "create" ? mutated(ask, { a: "other", b: "old" }) : ask));
    expect(told).toContain(CHANGED);
  });

  it.each([
    ["changes", { a: "other", b: "old" }, CHANGED],
    ["removes", { a: "old" }, REMOVED],
  ])("and given back to its owners without an answer: nobody knows who %s a field by then", (_, data, told) => {
    const store = server(undefined);
    expect(
      said((ask) => {
        if (ask.purpose !== "restore" || ask.call.verb !== "update") return store(ask);
        store(mutated(ask, data));
        return lost;
      }),
    ).toContain(told);
  });
});
