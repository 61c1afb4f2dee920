import { expect, it } from "vitest";
import { deletedWhenFinished } from "../../../packages/controller/src/core/kubernetes/finished-job.ts";
import { outline } from "../../../packages/controller/src/core/kubernetes/outline.ts";

const job = (ttlSecondsAfterFinished: number | undefined, type = "Complete", status = "True") => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "migrate" },
  spec: { completions: 1, ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }) },
  status: { conditions: [{ type, status, message: "it is" }] },
});

const given = (ttlSecondsAfterFinished: number) => ({ spec: { ttlSecondsAfterFinished } });

it.each([
  ["gets a time", given(0), job(undefined)],
  ["has failed, and gets a time", given(60), job(undefined, "Failed")],
  ["gets a shorter time", given(10), job(3600)],
])("a finished Job that %s is deleted when that is over", (_, content, live) => {
  const told = "lets the cluster delete it, since it has finished";
  expect(deletedWhenFinished(content, live)).toBe(told);
  expect(deletedWhenFinished(content, outline(live))).toBe(told);
});

it.each([
  ["has not finished", given(0), job(undefined, "Complete", "False")],
  ["is suspended", given(0), job(undefined, "Suspended")],
  ["gets a longer time", given(3600), job(10)],
  ["keeps its time", given(10), job(10)],
  ["gets none", { spec: {} }, job(undefined)],
])("nothing is deleted because of a time where a Job %s", (_, content, live) => {
  expect(deletedWhenFinished(content, live)).toBeUndefined();
});
