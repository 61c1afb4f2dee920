import { simulate, type SimulateOptions, type SimulatedObject } from "@janus/testing";
import { describe, expect, it } from "vitest";
import { transactionOf } from "./shop.ts";

const HIDDEN = "hunter2";
const TARGET = { apiVersion: "v1", kind: "ConfigMap", name: "app" };
const APP: SimulatedObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "app" }, data: { a: "1" } };

const contents = (content: object): SimulatedObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "contents" },
  immutable: true,
  data: { one: btoa(JSON.stringify(content)) },
});

const OTHER = { type: "Create", target: { ...TARGET, name: "other" }, content: {} };
const MEMBER = { metadata: { finalizers: [`example.com/${HIDDEN}`] } };
const edit = (before: number | "rollback", member: string) =>
  ({ before, target: TARGET, patch: { metadata: { finalizers: [`example.com/${member}`] } } }) as const;

/** What is told of a Patch of `app` whose content is in a Secret, and of a second change. */
const told = (content: object, more: object, options: SimulateOptions = {}): string => {
  const change = { type: "Patch", target: TARGET, contentFrom: { secretKeyRef: { name: "contents", key: "one" } } };
  const release = transactionOf([{ ...change, ...more }, OTHER], { waitAt: "End" });
  const { phase, why, problems, conditions, items, events, requests } = simulate(
    release,
    [APP, contents(content)],
    options,
  );
  expect(phase).not.toBe("Committed");
  return JSON.stringify([why, problems, conditions, items, events, requests.map(({ error }) => error)]);
};

describe("a content in a Secret, whatever kind it is applied to, is not shown where", () => {
  it.each<readonly [string, () => string, string]>([
    [
      "a gate is compared with it",
      () => told({ data: { a: HIDDEN } }, { waitFor: ["jsonpath={.data.a}=x"], waitTimeout: "1s" }),
      "the path has another value",
    ],
    [
      "another client has reverted it, and a gate is waited for",
      () => told(MEMBER, { waitFor: ["jsonpath={.data.b}"], waitTimeout: "1s" }, { edits: [edit(1, "theirs")] }),
      ".metadata.finalizers[…] of ConfigMap shop/app was modified by another client",
    ],
    [
      "the API server refuses it",
      () => told({ data: { a: HIDDEN } }, {}, { failAt: { change: 0, message: `${HIDDEN} is too short` } }),
      "the message is not shown, since it may quote values",
    ],
    [
      "it is not rolled back, since another client has taken it over",
      () => told(MEMBER, {}, { failAt: 1, edits: [edit("rollback", "theirs"), edit("rollback", HIDDEN)] }),
      "ConfigMap shop/app: .metadata.finalizers[…] was modified by field manager",
    ],
  ])("%s", (_, text, expected) => {
    const shown = text();
    expect(shown).toContain(expected);
    expect(shown).not.toContain(HIDDEN);
  });
});
