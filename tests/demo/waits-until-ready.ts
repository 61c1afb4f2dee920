import type { Transaction } from "@janus/api";
import { startKubelet } from "../fixtures/kubelet.ts";
import { crashing, running } from "../fixtures/pod-status.ts";
import { imageIn, imagePatch } from "./commits.ts";
import { progressPrinter, stopwatch } from "./print-progress.ts";
import { prove } from "./proof.ts";
import { runTransaction } from "./run-transaction.ts";
import { bold, dim, heading, say, sayWrapped } from "./say.ts";
import { appConfig, secret, shop, webServer } from "./shop.ts";
import type { Stage } from "./stage.ts";
import { until } from "./until.ts";

const name = "deploy-v4";
const brokenImage = "myapp:v4.0";
const targets = [appConfig, webServer, secret("api-key")];

const spec = {
  changes: [
    { target: { ...appConfig }, type: "Patch", content: { data: { version: "4.0" } } },
    {
      target: { ...webServer },
      type: "Patch",
      content: imagePatch(brokenImage),
      waitFor: ["ready"],
      waitTimeout: "6s",
    },
    { target: { ...secret("api-key") }, type: "Delete" },
  ],
  rollbackWaitFor: ["ready"],
};

/** Whether all replicas of the Deployment run what it asks for, by what its controller says. */
const isRolledOut = async ({ get }: Stage["admin"]): Promise<boolean> => {
  const deployment = await get(webServer);
  const status = (deployment?.["status"] ?? {}) as Readonly<Record<string, number | undefined>>;
  return (
    status["observedGeneration"] === deployment?.metadata.generation &&
    status["replicas"] === 2 &&
    status["updatedReplicas"] === 2 &&
    status["availableReplicas"] === 2
  );
};

const condition = ({ status }: Transaction, type: string) => status.conditions.find((one) => one.type === type);

/** A new version that is accepted and never becomes ready is rolled back, with what came before it. */
export const waitsUntilReady = async ({ admin, expectations }: Stage): Promise<void> => {
  const { expect } = expectations;
  heading(`(c) A new version that never becomes ready: Transaction ${shop}/${name}`);
  sayWrapped(
    `The API server accepts everything, but the container of ${brokenImage} crashes. The Deployment has waitFor: [ready], ` +
      "so the change after it is not made before all replicas are available. The demo reports the status of the Pods, " +
      "as a kubelet would.",
    2,
    dim,
  );
  const stopKubelet = await startKubelet(admin.client, shop, (image) => (image === brokenImage ? crashing : running));
  try {
    await until("web-server is rolled out", () => isRolledOut(admin));
    const before = await Promise.all(targets.map(admin.get));
    const transaction = await runTransaction(admin, name, spec, progressPrinter(stopwatch(), { items: true }));
    const healthyAtTheEnd = await isRolledOut(admin);
    const after = await Promise.all(targets.map(admin.get));

    const { phase, items } = transaction.status;
    const why = condition(transaction, "Ready")?.message ?? "";
    const healthy = condition(transaction, "Healthy");
    say();
    say(`${bold("Why")}      ${dim("condition Ready of the Transaction")}`, 2);
    sayWrapped(why, 13);
    say(`${bold("Healthy")}  ${dim("condition of the Transaction, from rollbackWaitFor: [ready]")}`, 2);
    sayWrapped(`${healthy?.status}: ${healthy?.message}`, 13);
    expect(`${name} is RolledBack`, phase === "RolledBack", `it is ${phase}`);
    expect(
      "the message names the Pod and what is wrong with it",
      /waitFor ready .*CrashLoopBackOff: exit code 1, Pod web-server-/.test(why),
      why,
    );
    expect("the change after the Deployment was never made", items[2]?.state.type === "prepared");
    expect("web-server has its former image", imageIn(after[1]) === imageIn(before[1]), imageIn(after[1]));
    expect("all replicas are available when the Transaction is RolledBack", healthyAtTheEnd);
    expect("the condition Healthy is True", healthy?.status === "True", healthy?.message);
    say();
    say("Proof: everything that the API server says of each object, before and after");
    prove(
      targets.map((target, index) => ({ target, before: before[index], after: after[index] })),
      expectations,
    );
  } finally {
    stopKubelet();
  }
};
