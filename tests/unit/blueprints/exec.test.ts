// Tests commands in containers that are there: at most once with a crash at any request, words over stdin, and what errors say.
import { spawnSync } from "node:child_process";
import type { ApiError } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endedBy, type ExecOutcome, isUnstarted } from "../../../packages/blueprints/src/core/exec/exec-outcome.ts";
import { wordsOverStdin } from "../../../packages/blueprints/src/core/exec/words-over-stdin.ts";
import { kubeExec } from "../../../packages/blueprints/src/core/functions/kube-exec.ts";
import { NO_LOG } from "../../../packages/blueprints/src/core/log-output.ts";
import { plain } from "../../../packages/blueprints/src/core/text.ts";
import { type Crash, execute, newWorld, withCrashes } from "./phase-world.ts";

describe("words that depend on Secrets", () => {
  it("reach the process over stdin as they are, with nothing left to read", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "'", '"', "$", "\\", "\n", "`", " ", "é", "-", "*") });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const print = 'for word; do printf "%s\\0" "$word"; done; cat';
        const { command, stdin = "" } = wordsOverStdin([
          ...["sh", "-c", print, "name"].map(plain),
          { pieces: [{ text: "secret", isTainted: true }] },
          ...words.map(plain),
        ]);
        expect(command).toEqual(["sh"]);
        const { stdout } = spawnSync("sh", [], { input: stdin });
        expect(stdout.toString().split("\0")).toEqual(["secret", ...words, ""]);
      }),
      { numRuns: 30 },
    );
  });

  it("are the only ones that take this way", () => {
    expect(wordsOverStdin([plain("date")])).toEqual({ command: ["date"] });
  });
});

const refused = (code: number, reason: string, message: string): ApiError => ({
  type: "refused",
  code,
  reason,
  message,
  causes: [],
});

describe("an error in place of a command", () => {
  it.each<readonly [string, ApiError, "again" | "refused" | "lost"]>([
    ["no connection", { type: "unanswered", cause: "never-sent", message: "" }, "again"],
    ["a lost one", { type: "unanswered", cause: "connection", message: "" }, "lost"],
    ["no answer in time", { type: "unanswered", cause: "deadline", message: "" }, "lost"],
    ["too many requests", refused(429, "TooManyRequests", ""), "again"],
    ["an API server that ends", refused(503, "ServiceUnavailable", ""), "again"],
    ["503 of a proxy", refused(503, "", ""), "lost"],
    ["a node out of reach", refused(500, "InternalError", "error dialing backend: dial tcp: i/o timeout"), "again"],
    ["any other error of a server", refused(500, "InternalError", "unexpected EOF"), "lost"],
    ["a missing right", refused(403, "Forbidden", ""), "refused"],
    ["a container that is gone", refused(404, "", 'container not found ("db")'), "refused"],
    ["a missing program", refused(500, "InternalError", 'exec: "sh": executable file not found in $PATH'), "refused"],
  ])("is judged by whether it has run: %s", (_, error, expected) => {
    expect(isUnstarted(error) ? "again" : endedBy(error).type).toBe(expected);
  });
});

const POD = {
  spec: { containers: [{ name: "db" }] },
  status: { phase: "Running", containerStatuses: [{ name: "db", state: { running: {} } }] },
};
const ARGS = { namespace: "shop", pod: "db-0", command: [plain("date")] };
const SECRET = { pieces: [{ text: "secret", isTainted: true }] };

const done: ExecOutcome = { type: "exited", exitCode: 0, stdout: { ...NO_LOG, outputs: { a: "1" } }, stderr: NO_LOG };

const ends = (outcome: ExecOutcome, command = ARGS.command, mayRerun = false) => {
  const world = newWorld({ "pods/shop/db-0": POD });
  return execute(kubeExec, { ...ARGS, command }, world, { executed: () => outcome, mayRerun }).step;
};

describe("KubeExec", () => {
  it("is sent only once its start is recorded, and never by another process, wherever a crash is", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld({ "pods/shop/db-0": POD });
      const { step, remembered, count } = execute(kubeExec, ARGS, world, { ...(crash && { crash }) });
      const { process } = remembered["exec"] as { readonly process: string };
      const isRecorded = crash?.at === count - 1 && crash.isApplied;
      expect(step.type).toBe(isRecorded ? "fail" : "wait");
      expect(process).toBe(isRecorded || crash === undefined ? "first" : "second");
      return { count };
    });
  });

  it("is sent again by another process where it may be", () => {
    const crash = { at: 1, isApplied: true };
    const { step, remembered } = execute(kubeExec, ARGS, newWorld({ "pods/shop/db-0": POD }), {
      crash,
      mayRerun: true,
    });
    expect(step).toMatchObject({ type: "wait", execs: [{ key: "phase/0/0/1/exec/2/0", container: "db" }] });
    expect(remembered).toMatchObject({ exec: { process: "second", tries: 2 } });
  });

  it("ends with the outputs of stdout, and not with an output that cannot be read", () => {
    expect(ends(done)).toEqual({ type: "end", output: { a: "1" } });
    const broken = { ...done, stdout: { ...NO_LOG, problem: "an output is more than 64 KiB" } };
    expect(ends(broken)).toEqual({
      type: "fail",
      message: 'Pod shop/db-0, container "db": an output is more than 64 KiB',
    });
  });

  it("says that a shell is missing only where it needs one", () => {
    const outcome: ExecOutcome = { type: "refused", message: "not found in $PATH", isProgramMissing: true };
    expect(ends(outcome)).toMatchObject({ message: expect.stringContaining("cannot be run: not found in $PATH") });
    expect(ends(outcome, [SECRET])).toMatchObject({ message: expect.stringContaining("has no sh") });
  });

  it("that is lost each time is not run again for ever", () => {
    expect(ends({ type: "lost", message: "socket hang up" }, ARGS.command, true)).toMatchObject({ type: "fail" });
  });
});
