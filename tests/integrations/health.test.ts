import { readFileSync } from "node:fs";
import path from "node:path";
import { PHASES } from "@janus/api";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { askOracle, buildOracle, hasOracle } from "../gates/oracle/oracle.ts";
import { ARGO_CD_BUILD, askArgoCd, buildArgoCd, hasArgoCd } from "./argo-cd/argo-cd.ts";
import type { Txn } from "../fixtures/workspace.ts";
import { everyState } from "./lives.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const { data: config } = parse(readFileSync(path.join(repository, "deploy/argocd/argocd-cm.yaml"), "utf8")) as {
  readonly data: Readonly<Record<string, string>>;
};

const conditionOf = ({ status }: Txn, name: string) => status.conditions.find(({ type }) => type === name);

type Outcome = "unpublished" | "active" | "done" | "failed" | "deleted";

/** What everybody should see of a Transaction, by its phase alone. */
const outcomeOf = (seen: Txn): Outcome => {
  if (seen.metadata.deletionTimestamp !== undefined) return "deleted";
  if (conditionOf(seen, "Stalled")?.reason === "Unreadable") return "failed";
  if (seen.spec.lifecycle !== "Published") return "unpublished";
  const { phase } = seen.status;
  if (phase === "Committed") return "done";
  return phase === "RolledBack" || phase === "Failed" ? "failed" : "active";
};

let found: Promise<readonly Txn[]> | undefined;
const everyStateOnce = (): Promise<readonly Txn[]> => (found ??= everyState());

it("every phase is among them, a wait for a gate, both kinds of Failed, and one that is deleted", async () => {
  const states = await everyStateOnce();
  expect(new Set(states.map(({ status }) => status.phase))).toEqual(new Set(PHASES));
  expect(new Set(states.map(outcomeOf))).toEqual(new Set(["unpublished", "active", "done", "failed", "deleted"]));
  expect(states.some((seen) => conditionOf(seen, "Ready")?.message.startsWith("waiting for ConfigMap"))).toBe(true);
  const failed = states.filter(({ status }) => status.phase === "Failed");
  expect(new Set(failed.map((seen) => conditionOf(seen, "RolledBack")?.reason))).toEqual(
    new Set(["NoChangesApplied", "RollbackIncomplete"]),
  );
});

/** What is not as it should be, in a line each. */
const wrong = <Answer>(
  states: readonly Txn[],
  answers: readonly Answer[],
  expected: Readonly<Record<Outcome, unknown>>,
  is: (answer: Answer) => unknown,
): readonly string[] =>
  states.flatMap((seen, at) => {
    const answer = answers[at];
    const outcome = outcomeOf(seen);
    return answer !== undefined && is(answer) === expected[outcome]
      ? []
      : [`${seen.status.phase}, ${outcome}: ${JSON.stringify(answer)}`];
  });

describe.skipIf(!(await hasOracle()))("kstatus, by which Flux waits", () => {
  beforeAll(buildOracle, ARGO_CD_BUILD);

  it("sees a Transaction that is unpublished, active, done, failed or deleted as what it is", async () => {
    const states = await everyStateOnce();
    const answers = await askOracle<{ readonly status: string }>("kstatus", states);
    const expected = {
      unpublished: "InProgress",
      active: "InProgress",
      done: "Current",
      failed: "Failed",
      deleted: "Terminating",
    };
    expect(wrong(states, answers, expected, ({ status }) => status)).toEqual([]);
  });
});

describe.skipIf(!(await hasArgoCd()))("Argo CD", () => {
  beforeAll(buildArgoCd, ARGO_CD_BUILD);

  interface Health {
    readonly status: string;
    readonly message: string;
  }
  const healthOf = (objects: readonly object[], data = config) =>
    askArgoCd<Health | null>(
      "health",
      objects.map((object) => ({ config: data, object })),
    );

  it("has no health of a Transaction by itself", async () => {
    const states = (await everyStateOnce()).filter((seen) => outcomeOf(seen) !== "deleted");
    expect(new Set(await healthOf(states, {}))).toEqual(new Set([null]));
  });

  it("sees a Transaction that is unpublished, active, done, failed or deleted as what it is", async () => {
    const expected = {
      unpublished: "Suspended",
      active: "Progressing",
      done: "Healthy",
      failed: "Degraded",
      deleted: "Progressing",
    };
    const states = await everyStateOnce();
    expect(wrong(states, await healthOf(states), expected, (health) => health?.status)).toEqual([]);
  });

  it("shows the message of the Transaction", async () => {
    const states = await everyStateOnce();
    const shown = await healthOf(states);
    const messages = states.map((seen) =>
      outcomeOf(seen) === "deleted"
        ? "Pending deletion"
        : (conditionOf(seen, "Ready")?.message ?? "waiting for the Janus controller"),
    );
    expect(shown.map((health) => health?.message)).toEqual(messages);
  });

  it("sees a Transaction of which it knows nothing but the spec as Progressing, or Suspended if it is a Draft", async () => {
    const states = await everyStateOnce();
    const bare = (["active", "unpublished"] as const).map((outcome) => {
      const { status: _, ...rest } = states.find((seen) => outcomeOf(seen) === outcome) ?? {};
      return rest;
    });
    expect(await healthOf(bare)).toMatchObject([{ status: "Progressing" }, { status: "Suspended" }]);
  });

  it("offers to request a rollback while something can be rolled back, and a retry where it is incomplete", async () => {
    const states = await everyStateOnce();
    const isDisabled = await askArgoCd<Readonly<Record<string, boolean>>>(
      "actions",
      states.map((object) => ({ config, object })),
    );
    const expected = states.map((seen) => ({
      "request-rollback":
        !["Pending", "Preparing", "Prepared", "Committing"].includes(seen.status.phase) &&
        conditionOf(seen, "Reversible")?.status !== "True",
      "retry-rollback":
        seen.status.phase !== "Failed" || conditionOf(seen, "RolledBack")?.reason !== "RollbackIncomplete",
    }));
    expect(isDisabled).toEqual(expected);
  });

  it.each(["request-rollback", "retry-rollback"])("%s sets the annotation, and nothing else", async (action) => {
    const states = await everyStateOnce();
    const answers = await askArgoCd<Txn>(
      "act",
      states.map((object) => ({ config, object, action })),
    );
    const expected = states.map((seen) => {
      const annotations = { ...seen.metadata.annotations, [`backup.janus.io/${action}`]: "argo-cd" };
      return { ...seen, metadata: { ...seen.metadata, annotations } };
    });
    expect(answers).toEqual(expected);
  });
});
