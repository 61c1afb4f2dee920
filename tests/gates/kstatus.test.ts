import type { KubeObject } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GateState } from "../../packages/controller/src/core/gates/gate-state.ts";
import { objectsAt, textAt, valueAt } from "../../packages/controller/src/core/gates/read-fields.ts";
import { ready } from "../../packages/controller/src/core/gates/ready.ts";
import { arbitraryObjects } from "./arbitrary-object.ts";
import { askOracle, hasOracle } from "./oracle/oracle.ts";
import { seed } from "../fixtures/sample.ts";
import { lives } from "../unit/core/gates/lives.ts";

/** What kstatus says of an object; Error: that it cannot be told. */
interface Said {
  readonly status: "Current" | "InProgress" | "Failed" | "Terminating" | "Error";
  readonly said: string;
}

const MEANS: Readonly<Record<Said["status"], readonly GateState["type"][]>> = {
  Current: ["met"],
  InProgress: ["waiting"],
  Terminating: ["waiting"],
  Error: ["waiting", "failed"],
  Failed: ["failed"],
};

const isTrue = (object: KubeObject, type: string): boolean =>
  objectsAt(object, "status", "conditions").some(
    (condition) => textAt(condition, "type") === type && textAt(condition, "status") === "True",
  );

const crashLoops = (pod: KubeObject): boolean =>
  objectsAt(pod, "status", "containerStatuses").some(
    (container) => textAt(container, "state", "waiting", "reason") === "CrashLoopBackOff",
  );

const isUnschedulable = (pod: KubeObject): boolean =>
  objectsAt(pod, "status", "conditions").some(
    (condition) => textAt(condition, "type") === "PodScheduled" && textAt(condition, "reason") === "Unschedulable",
  );

const hasAddress = (service: KubeObject): boolean => objectsAt(service, "status", "loadBalancer", "ingress").length > 0;

type Verdict = `${Said["status"]} ${GateState["type"]}`;
interface Exception {
  /** Undefined: any. */
  readonly kind?: string;
  readonly kstatusAndWe: Verdict;
  readonly where: (object: KubeObject) => boolean;
}

/** All the differences that there may be. */
const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  "a Job is ready when it is Complete, not when it has started": {
    kind: "batch/v1 Job",
    kstatusAndWe: "Current waiting",
    where: (job) => !isTrue(job, "Complete"),
  },
  "a Pod that has failed has failed": {
    kind: "v1 Pod",
    kstatusAndWe: "Current failed",
    where: (pod) => textAt(pod, "status", "phase") === "Failed",
  },
  "a Pod that crash-loops or is unschedulable is not ready yet": {
    kind: "v1 Pod",
    kstatusAndWe: "Failed waiting",
    where: (pod) => crashLoops(pod) || isUnschedulable(pod),
  },
  "a Service of type LoadBalancer needs its address": {
    kind: "v1 Service",
    kstatusAndWe: "Current waiting",
    where: (service) => textAt(service, "spec", "type") === "LoadBalancer" && !hasAddress(service),
  },
  "a Deployment that is paused is not rolled out": {
    kind: "apps/v1 Deployment",
    kstatusAndWe: "InProgress failed",
    where: (deployment) => valueAt(deployment, "spec", "paused") === true,
  },
  "an observedGeneration may be the text of a number": {
    kstatusAndWe: "Error met",
    where: (object) => /^\d+$/.test(textAt(object, "status", "observedGeneration")),
  },
};

/** `same`, the exception that it is, or what differs. */
const compare = (object: KubeObject, { status, said }: Said): string => {
  const ours = ready(object);
  if (MEANS[status].includes(ours.type)) return "same";
  const exception = Object.entries(EXCEPTIONS).find(
    ([, { kind, kstatusAndWe, where }]) =>
      (kind === undefined || kind === `${object.apiVersion} ${object.kind}`) &&
      kstatusAndWe === `${status} ${ours.type}` &&
      where(object),
  );
  return exception?.[0] ?? `${status} (${said}), but ${JSON.stringify(ours)}: ${JSON.stringify(object)}`;
};

const compareAll = async (objects: readonly KubeObject[]): Promise<readonly string[]> => {
  const answers = await askOracle<Said>("kstatus", objects);
  return objects.map((object, at) => compare(object, answers[at] ?? { status: "Error", said: "no answer" }));
};

const EACH = 400;

describe.skipIf(!(await hasOracle()))(
  `ready is what kstatus calls Current, but for the exceptions (JANUS_SEED=${seed})`,
  () => {
    const allowed = ["same", ...Object.keys(EXCEPTIONS)];

    it.each(Object.entries(arbitraryObjects))("%s, at any time of its life", async (_, arbitrary) => {
      const objects = fc.sample(arbitrary, { numRuns: EACH, seed });
      const results = await compareAll(objects);
      expect(results.filter((result) => !allowed.includes(result))).toEqual([]);
      // A generator that makes only objects of one state would compare nothing.
      expect(new Set(objects.map((object) => ready(object).type)).size).toBeGreaterThan(1);
    });

    it.each(Object.entries(lives))("%s, from its creation on", async (_, moments) => {
      const results = await compareAll(moments.map(({ object }) => object));
      expect(results.filter((result) => !allowed.includes(result))).toEqual([]);
    });

    it("and each exception is one", async () => {
      const objects = Object.values(arbitraryObjects).flatMap((arbitrary) =>
        fc.sample(arbitrary, { numRuns: EACH, seed }),
      );
      const results = new Set(await compareAll(objects));
      expect(results).toEqual(new Set(allowed));
    });
  },
);
