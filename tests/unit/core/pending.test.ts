import { type Change, MAX_CHANGES } from "@janus/api";
import { expect, it } from "vitest";
import { change, later, refused, underway } from "./underway.ts";
import { relativeCost } from "../../fixtures/relative-cost.ts";

it.each([
  ["a", 600_000, "Preparing"],
  ["a", 1_100_000, "Failed"],
  // Three bytes each.
  ["界", 400_000, "Failed"],
])("counts bytes where a Transaction could not keep its own status: %s, %i times", (text, times, phase) => {
  const small = change("Create", "a");
  const large = { ...small, content: { data: { a: text.repeat(times) } } } as typeof small;
  const start = underway("Pending", [large], { direction: "forward", cursor: 0 }, { journal: { type: "missing" } });
  const { at } = later(start, 2, () => refused(404));
  expect(at.txn.status.phase).toBe(phase);
});

it.each([
  ["no gates", [], {}, 0],
  ["a gate", ["ready"], {}, 600],
  ["gates of what is restored", [], { rollbackWaitFor: ["ready"] }, 50 * 600],
])("leaves room in the status for what is waited for: %s", (_, waitFor, spec, room) => {
  const changes = Array.from({ length: 60 }, (_, at): Change => ({ ...change("Create", `a-${at}`), waitFor }));
  const start = underway("Pending", changes, { direction: "forward", cursor: 0 }, { journal: { type: "missing" } });
  const sized = (padding: number): string => {
    const [first, ...others] = start.txn.spec.changes;
    if (first === undefined || first.type === "Delete") throw new Error("no Create");
    const padded = { ...first, content: { data: { a: "x".repeat(padding) } } };
    const txn = { ...start.txn, spec: { ...start.txn.spec, ...spec, changes: [padded, ...others] } };
    return later({ ...start, txn }, 2, () => refused(404)).at.txn.status.phase;
  };
  const spent = JSON.stringify([start.txn.metadata, { ...start.txn.spec, ...spec }]).length;
  const most = 1024 * 1024 - spent - 60 * 1600 - room + '"new"'.length - '""'.length;
  expect([sized(most), sized(most + 1)]).toEqual(["Preparing", "Failed"]);
});

// Fails when MAX_CHANGES is raised beyond what the size check has room for.
it("takes as many Deletes as a Transaction has changes, all of which may be waited for after a rollback", () => {
  const changes = Array.from({ length: MAX_CHANGES }, (_, at) => change("Delete", `a-${at}`));
  const start = underway("Pending", changes, { direction: "forward", cursor: 0 }, { journal: { type: "missing" } });
  const txn = { ...start.txn, spec: { ...start.txn.spec, rollbackWaitFor: ["ready"] } };
  expect(later({ ...start, txn }, 2, () => refused(404)).at.txn.status.phase).toBe("Preparing");
});

it("refuses more expressions than can be read in a moment, without reading them", async () => {
  const changes = Array.from({ length: 40 }, (_, at): Change => {
    const waitFor = Array.from({ length: 4 }, (_, gate) => `cel=self${"[0]".repeat(300)} == ${at * 4 + gate}`);
    return { ...change("Patch", `a-${at}`), waitFor };
  });
  const start = underway("Pending", changes, { direction: "forward", cursor: 0 }, { journal: { type: "missing" } });
  let { at } = { at: start };
  expect(await relativeCost(() => ({ at } = later(start, 2, () => refused(404))))).toBeLessThan(30);
  expect(at.txn.status.phase).toBe("Failed");
  expect(at.txn.status.conditions.find(({ type }) => type === "Ready")?.message).toContain(
    "the cel expressions of the Transaction have 146290 characters, and may have 16384 together: use fewer",
  );
});

it("counts an expression once, however many changes wait for it", () => {
  const gate = `cel=self.${"a".repeat(900)} == 1`;
  const changes = Array.from({ length: 40 }, (_, at): Change => ({ ...change("Patch", `a-${at}`), waitFor: [gate] }));
  const start = underway("Pending", changes, { direction: "forward", cursor: 0 }, { journal: { type: "missing" } });
  expect(later(start, 2, () => refused(404)).at.txn.status.phase).toBe("Preparing");
});
