import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const main = path.resolve(import.meta.dirname, "../../../packages/controller/src/shell/main.ts");

it.each([
  ["--leader-elect-retry-period=20s", "the retry period (20 s) must be shorter than the renew deadline (20 s)"],
  ["--leader-elect-lease-duration=20s", "the renew deadline (20 s) must be shorter than the lease duration (20 s)"],
  ["--write-timeout=11s", "must together be no longer than the lease duration (30 s)"],
  ["--leader-elect-resource-name=Foo_Bar", "--leader-elect-resource-name takes the name of a Lease"],
  ["--leader-elect=perhaps", "--leader-elect takes true or false"],
])("the controller does not start with %s, and says why", async (flag, why) => {
  const started = promisify(execFile)(process.execPath, ["--conditions=source", main, flag], { encoding: "utf8" });
  await expect(started).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
});
