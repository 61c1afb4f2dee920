import { expect, it } from "vitest";
import { watchdog } from "../../../../packages/runtime/src/process/watchdog.ts";
import { manualClock } from "../../kube/manual-clock.ts";

const dog = () => {
  const clock = manualClock();
  return { clock, ...watchdog(10_000, clock) };
};

it("finds a loop stuck that gives no sign of life for longer than the slack", async () => {
  const { clock, loop, stuck } = dog();
  const one = loop("worker");
  one.heartbeat();
  await clock.pass(10_000);
  expect(stuck()).toEqual([]);
  await clock.pass(2_000);
  expect(stuck()).toEqual(["worker: no progress for 12 s"]);
  one.heartbeat();
  expect(stuck()).toEqual([]);
});

it("does not take for stuck what said for how long it waits", async () => {
  const { clock, loop, stuck } = dog();
  const one = loop("reflector");
  one.heartbeat(300_000);
  await clock.pass(310_000);
  expect(stuck()).toEqual([]);
  await clock.pass(1);
  expect(stuck()).toEqual(["reflector: no progress for 10 s"]);
});

it("does not take for stuck what has not begun, has nothing to do, or has ended", async () => {
  const { clock, loop, stuck } = dog();
  loop("not begun");
  const ended = loop("ended");
  ended.heartbeat();
  ended.rest();
  await clock.pass(1_000_000);
  expect(stuck()).toEqual([]);
});

it("knows each of several loops of one name by itself", async () => {
  const { clock, loop, stuck } = dog();
  const [first, second] = [loop("worker"), loop("worker")];
  first.heartbeat();
  second.heartbeat();
  await clock.pass(11_000);
  second.heartbeat();
  expect(stuck()).toEqual(["worker: no progress for 11 s"]);
});
