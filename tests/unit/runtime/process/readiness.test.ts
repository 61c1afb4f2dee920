import { CONTROLLER_NAMES } from "@janus/controller";
import { expect, it } from "vitest";
import { type Standing, unready } from "../../../../packages/runtime/src/process/readiness.ts";

const standby: Standing = { stopping: false, leads: false, synced: undefined, standsBy: true };
const leader: Standing = { stopping: false, leads: true, synced: true, standsBy: true };

it.each([
  ["the leader", leader, true, true],
  ["a standby that could take over", standby, true, false],
  ["a standby that has not seen the Lease", { ...standby, standsBy: false }, false, false],
  ["a new leader that has not listed everything", { ...leader, synced: false }, false, false],
  ["a leader that is in doubt whether it still leads", { ...leader, leads: false }, true, false],
  ["a leader that stops", { ...leader, stopping: true }, false, false],
  ["a standby that stops", { ...standby, stopping: true }, false, false],
])("says of %s whether it is ready", (_, standing, any, onlyLeader) => {
  expect(unready("any", standing, CONTROLLER_NAMES) === undefined).toBe(any);
  expect(unready("leader", standing, CONTROLLER_NAMES) === undefined).toBe(onlyLeader);
});
