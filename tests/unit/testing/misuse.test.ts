import { simulate, type SimulatedObject } from "@janus/testing";
import { expect, it } from "vitest";
import { CHANGES, LIVE, OTHER, transactionOf, WEB } from "./shop.ts";

const RELEASE = transactionOf(CHANGES);
const THERE = [...LIVE, OTHER];

// A test that lets nothing go wrong by mistake would prove nothing.
it.each([
  ["failAt of no change", { failAt: 5 }, "failAt: there is no changes[5]"],
  ["failAt of no whole number", { failAt: { change: -1 } }, "failAt: there is no changes[-1]"],
  ["an edit before no change", { edits: [{ before: 7, target: WEB, patch: {} }] }, "edits[0]: there is no changes[7]"],
  [
    "notReady of what is no target",
    { notReady: [{ ...WEB, name: "wbe" }] },
    "notReady[0]: no change has the target Deployment wbe",
  ],
  [
    "an edit of a kind that Kubernetes does not have",
    { edits: [{ before: 0, target: { ...WEB, kind: "Deploymnt" }, patch: {} }] },
    "no kind Deploymnt in apps/v1",
  ],
  ["an HTTP status that refuses nothing", { failAt: { change: 0, code: 200 } }, "failAt: 200 is no code of a refusal"],
  [
    "a verb that RBAC does not have",
    { denied: [{ kind: "Secret" }, { verbs: ["get", "apply"] }] },
    'denied[1]: no verb is called "apply"',
  ],
  ["a plural where a kind is meant", { denied: [{ kind: "secrets" }] }, 'denied[0]: no kind is called "secrets"'],
])("refuses %s", (_, options, message) => {
  expect(() => simulate(RELEASE, THERE, options)).toThrow(message);
});

it.each<[object, string]>([
  [
    { failsAt: 2 },
    'the option "failsAt" does not exist: there are failAt, denied, edits, ready, notReady, now, requests',
  ],
  [{ failAt: { index: 2 } }, 'failAt: "index" does not exist: there are change, code, message'],
  [{ denied: [{ kind: "Secret" }, { verb: "get" }] }, 'denied[1]: "verb" does not exist: there are verbs, kind'],
  [{ edits: [{ after: 1, target: WEB, patch: {} }] }, 'edits[0]: "after" does not exist: there are before, target'],
  [
    { edits: [{ before: 1, target: { ...WEB, ns: "a" }, patch: {} }] },
    'edits[0].target: "ns" does not exist: there are apiVersion, kind, name, namespace',
  ],
  [{ notReady: [{ ...WEB, ns: "a" }] }, 'notReady[0]: "ns" does not exist: there are apiVersion, kind, name'],
  [{ requests: "everything" }, 'requests: "everything" does not exist: there are targets, all'],
])("refuses an option that it does not know: %j", (options, message) => {
  expect(() => simulate(RELEASE, THERE, options)).toThrow(message);
  expect(() => simulate({}, THERE, options)).toThrow(TypeError);
});

it.each([
  [{}, "liveObjects[0] is no object with apiVersion, kind and metadata.name"],
  [undefined, "liveObjects[0] is no object with apiVersion, kind and metadata.name"],
  [{ apiVersion: "v1", kind: "ConfigMap", metadata: {} }, "liveObjects[0] is no object with"],
])("refuses the live object %j", (object, message) => {
  expect(() => simulate(RELEASE, [object as unknown as SimulatedObject])).toThrow(message);
});

it("refuses a live object that is there twice", () => {
  expect(() => simulate(RELEASE, [...THERE, OTHER])).toThrow("liveObjects has ConfigMap other twice");
});
