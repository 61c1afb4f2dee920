import { expect, it, onTestFinished, vi } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

const HOUR = 3_600_000;

/** The clock of this machine is set, as by NTP soon after a start. */
const step = (ms: number): void => {
  const real = Date.now.bind(Date);
  const set = vi.spyOn(Date, "now").mockImplementation(() => real() + ms);
  onTestFinished(() => set.mockRestore());
};

it.each([2 * HOUR, -2 * HOUR])("dates what begins after the clock was set by %i ms by that clock", async (ms) => {
  const place = await workspace();
  await place.create(configMap("a", { x: "1" }));
  await place.janus();
  step(ms);
  const set = Date.now();
  const { status } = await place.run([patching(configMap("a", { x: "2" }))]);
  expect(status.phase).toBe("Committed");
  for (const time of [status.startedAt, status.completedAt])
    expect(Math.abs(Date.parse(time ?? "") - set)).toBeLessThan(HOUR);
  await expect
    .poll(async () => (await eventsOf(place.namespace, "txn")).map(({ lastTimestamp }) => lastTimestamp))
    .not.toEqual([]);
  for (const { lastTimestamp } of await eventsOf(place.namespace, "txn"))
    expect(Math.abs(Date.parse(lastTimestamp) - set)).toBeLessThan(HOUR);
});

it.each([2 * HOUR, -2 * HOUR])(
  "counts no time that did not pass: the clock is set by %i ms during the Transaction",
  async (ms) => {
    const place = await workspace();
    await place.create(configMap("a", { x: "1" }), configMap("b", { x: "1" }));
    const { hook, reached, open } = gate(isChangeOf("b"));
    await place.janus(hook);
    await place.submit([patching(configMap("a", { x: "2" })), patching(configMap("b", { x: "2" }))], {
      timeout: "30m",
    });
    await reached;
    step(ms);
    open();
    const { status } = await place.over();
    expect(status.phase).toBe("Committed");
    expect(Date.parse(status.completedAt ?? "") - Date.parse(status.startedAt ?? "")).toBeLessThan(HOUR);
  },
);
