// A simulation goes on after a wait, or a crash, with all that the Transaction has.
import { simulate } from "@janus/testing";
import { expect, it } from "vitest";
import { runTransaction } from "../../../packages/testing/src/controller/run-transaction.ts";
import { reportOf } from "../../../packages/testing/src/report.ts";
import { stage } from "../../../packages/testing/src/stage.ts";

const transaction = {
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name: "txn", namespace: "shop" },
  spec: {
    serviceAccountName: "deployer",
    changes: ["a", "b"].map((name) => ({
      type: "Create",
      target: { apiVersion: "v1", kind: "ConfigMap", name },
      content: { data: { v: "1" } },
    })),
  },
};

it("sends the whole content again after a wait", () => {
  const { requests } = simulate(transaction, [], { failAt: { change: 1, code: 409 } });
  const sent = requests.filter(({ purpose, change }) => purpose === "change" && change === 1);
  expect(sent.length).toBeGreaterThan(1);
  for (const { body } of sent) expect(body).toMatchObject({ data: { v: "1" } });
});

it("creates the same objects, whenever it is killed", () => {
  const staged = stage(transaction, [], {});
  if (staged.type === "refused") throw new Error(staged.problems.join());
  const { scene } = staged;
  const { start, scenario } = scene;
  const whole = runTransaction(start, scenario);
  const { objects } = reportOf(whole, scene, "targets");
  for (let crashAt = 1; crashAt <= whole.requests.length; crashAt += 1)
    expect(reportOf(runTransaction(start, { ...scenario, crashAt }), scene, "targets").objects).toEqual(objects);
});
