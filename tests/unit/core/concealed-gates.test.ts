import * as E from "fp-ts/lib/Either.js";
import type { KubeObject } from "@janus/types";
import { expect, it } from "vitest";
import type { Gated } from "../../../packages/controller/src/core/state/gated.ts";
import { observeGates } from "../../../packages/controller/src/core/forward/gate-states.ts";
import type { Gate } from "../../../packages/controller/src/core/gates/gate.ts";
import { noObservations } from "../../../packages/controller/src/core/state/observations.ts";
import { NOW } from "./arbitrary-situation.ts";
import { transaction } from "./transaction.ts";
import { change } from "./underway.ts";
import { found, learn } from "./learn.ts";

const HIDDEN = "hunter2";
const READY: Gate = { type: "ready" };

const metadata = { name: "web", namespace: "shop", uid: "1", resourceVersion: "1" };

const deployment: KubeObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata,
  spec: { replicas: 1, selector: { matchLabels: { app: HIDDEN } } },
};
const claim: KubeObject = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata,
  spec: { storageClassName: HIDDEN },
  status: { phase: "Pending" },
};
const event: KubeObject = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "web.1" },
  type: "Warning",
  reason: "ProvisioningFailed",
  message: `storageclass "${HIDDEN}" not found`,
  lastTimestamp: "2026-01-01T00:00:00Z",
};

/** All that is asked for, and said, of an object that is waited for; every list has this Event. */
const observed = (object: KubeObject, conceals: boolean): string => {
  const [group = "", version = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", "v1"];
  const gated: Gated = {
    index: 0,
    change: {
      type: "Create",
      target: { apiVersion: object.apiVersion, kind: object.kind, name: "web" },
      content: {},
    },
    place: {
      resource: { group, version, plural: "x", kind: object.kind, namespaced: true, statusSubresource: true },
      namespace: "shop",
      name: "web",
    },
    gates: [READY],
    uid: "1",
    conceals,
  };
  const txn = transaction([change("Patch", "web")]);
  let known = noObservations(NOW);
  const asked: string[] = [];
  for (;;) {
    const next = observeGates(gated, known, NOW, NOW);
    if (next.type !== "reading") return JSON.stringify([asked, next]);
    for (const effect of next.effects) {
      asked.push(JSON.stringify(effect));
      if ("call" in effect) known = learn({ txn, known }, effect, E.right(object));
      else if (effect.purpose === "find-events") known = found({ txn, known }, { effect, found: [event] });
      else if (effect.purpose === "find-pods") known = found({ txn, known }, { effect, found: [] });
    }
  }
};

it.each([
  ["Pods", deployment],
  ["Events", claim],
])("quotes no %s of a target of which nothing may be shown", (_, object) => {
  expect(observed(object, false)).toContain(HIDDEN);
  expect(observed(object, true)).not.toContain(HIDDEN);
});
