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

const messageFor = (target: object, content: object, type = "Create"): string | undefined => {
  const wrong = { ...change("Create", "a"), type, content } as Change;
  const start = underway(
    "Pending",
    [{ ...wrong, target: { ...wrong.target, ...target } }],
    { direction: "forward", cursor: 0 },
    { journal: { type: "missing" } },
  );
  const { status } = later(start, 2, () => refused(404)).at.txn;
  return status.phase === "Failed" ? status.conditions.find(({ type }) => type === "Ready")?.message : undefined;
};

it.each<readonly [content: object, mistake: string]>([
  [{ data: { good: "aGk=", bad: "hunter2!" } }, ".data.bad is not base64: put plain text into stringData"],
  [{ data: { bad: "hunter2" } }, ".data.bad is not base64: put plain text into stringData"],
  [{ data: { bad: "a===" } }, ".data.bad is not base64: put plain text into stringData"],
  [{ data: { bad: "aG=k" } }, ".data.bad is not base64: put plain text into stringData"],
  [{ data: { bad: "aG-_" } }, ".data.bad is not base64: put plain text into stringData"],
  [{ data: { bad: 4711 } }, ".data.bad is a number, not base64: put it into stringData, as a text in quotes"],
  [{ data: ["hunter2"] }, ".data is a list: it has to be a map of texts"],
  [{ stringData: { bad: 4711 } }, ".stringData.bad is a number: put it in quotes"],
  [{ stringData: { "tls.crt": true } }, '.stringData["tls.crt"] is a boolean: put it in quotes'],
  [{ stringData: { bad: { key: "hunter2" } } }, ".stringData.bad is an object: it has to be a text"],
  [{ stringData: "hunter2" }, ".stringData is a text: it has to be a map of texts"],
  [{ metadata: { labels: { version: 4711 } } }, ".metadata.labels.version is a number: put it in quotes"],
  [{ metadata: { annotations: { a: [4711] } } }, ".metadata.annotations.a is a list: it has to be a text"],
])("says which field of a Secret is wrong, and what to do, without its value: %j", (content, mistake) => {
  for (const type of ["Create", "Update", "Patch", "Replace", "Apply"])
    expect(messageFor({ kind: "Secret" }, content, type)).toBe(
      `no changes were applied: changes[0]: content of Secret shop/a: ${mistake}`,
    );
});

it.each<readonly [kind: string, content: object]>([
  ["Secret", { data: { a: "aGk=", b: "aGkh", c: "", d: null, e: "aGk\n=\r\n", f: "+/==" }, stringData: null }],
  ["Secret", { stringData: { a: "not base64" }, metadata: { labels: { a: "b", gone: null } }, immutable: true }],
  ["ConfigMap", { data: { a: "not base64" }, binaryData: { b: "aGk=" } }],
  ["ServiceAccount", { secrets: [{ name: "a" }], data: { a: 1 } }],
])("takes what the API server takes in the maps of a %s: %j", (kind, content) => {
  expect(messageFor({ kind }, content)).toBeUndefined();
});

it.each<readonly [content: object, mistake: string]>([
  [{ data: { n: 5 } }, ".data.n is a number: put it in quotes"],
  [{ binaryData: { b: "not base64" } }, ".binaryData.b is not base64: put plain text into data"],
])("says which field of a ConfigMap is wrong: %j", (content, mistake) => {
  expect(messageFor({}, content)).toBe(`no changes were applied: changes[0]: content of ConfigMap shop/a: ${mistake}`);
});
