import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { withChange, journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import { NOW } from "./arbitrary-situation.ts";
import { change, checkpoints, former, later, underway } from "./underway.ts";
import type { KubeObject } from "@janus/types";

/** Created again and given back to its owners by a process that died, or rested, before it could record that. */
const verdict = (data: object): string => {
  const was = former("ConfigMap", "a", { data: { a: "old" } });
  const there: KubeObject = { ...was, data, metadata: { ...was.metadata, uid: "new-uid", resourceVersion: "7" } };
  const at = underway("RollingBack", [change("Delete", "a")], { direction: "back", cursor: 0, reached: 1, since: NOW });
  const journal = journalIn(at.known);
  if (journal === undefined) throw new Error("no journal");
  const known = {
    ...withChange(at.known, 0, { before: was }),
    journal: { type: "read" as const, journal: { ...journal, created: new Map([[0, "new-uid"]]) } },
  };
  const checkpoint = checkpoints();
  const story = later({ ...at, known }, 100, (ask, at) =>
    ask.purpose === "checkpoint" ? checkpoint(at, ask) : E.right(there),
  );
  const { phase, conditions } = story.at.txn.status;
  return `${phase}: ${conditions.find(({ type }) => type === "Ready")?.message}`;
};

describe("an object that was created again by a former process", () => {
  it("is as before, where it is", () => {
    expect(verdict({ a: "old" })).toMatch(/^RolledBack: every target is as it was before; /);
  });

  it("is reported not to be as before, where admission has modified it", () => {
    expect(verdict({ a: "other" })).toContain(".data.a");
  });
});
