import type { Target } from "@janus/api";
import type { Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { imagePatch } from "./commits.ts";
import { progressPrinter, stopwatch } from "./print-progress.ts";
import { prove } from "./proof.ts";
import { runTransaction } from "./run-transaction.ts";
import { dim, heading, say, sayWrapped } from "./say.ts";
import { appConfig, secret, shop, webServer } from "./shop.ts";
import type { Stage } from "./stage.ts";
import { until } from "./until.ts";

const name = "deploy-v3";
const service = (name: string): Target => ({ apiVersion: "v1", kind: "Service", namespace: shop, name });
const targets = [appConfig, webServer, secret("api-key"), service("web"), service("web-admin")];

const port = { spec: { selector: { app: "web-server" }, ports: [{ port: 80, targetPort: 8080 }] } };
const changes = [
  { target: { ...appConfig }, type: "Patch", content: { data: { version: "3.0" } } },
  { target: { ...webServer }, type: "Patch", content: imagePatch("myapp:v3.0") },
  { target: { ...secret("api-key") }, type: "Delete" },
  { target: { ...service("web") }, type: "Create", content: port },
  { target: { ...service("web-admin") }, type: "Create", content: port },
];

const quota = { apiVersion: "v1", kind: "ResourceQuota", namespace: shop, name: "one-service" };

const events: Resource = {
  group: "",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
  statusSubresource: false,
};

/** Whether `kubectl describe` says why. */
const isTold = async ({ client }: Stage["admin"]): Promise<boolean> => {
  const fieldSelector = `involvedObject.name=${name},reason=CommitFailed`;
  const found = await client.send({ verb: "list", resource: events, namespace: shop, fieldSelector });
  return E.isRight(found) && (found.right["items"] as readonly unknown[]).length > 0;
};

/** Fails at its last change, and only when that is made: each dry run finds room for one Service, and there are two. */
export const rollsBack = async ({ admin, expectations }: Stage): Promise<void> => {
  const { expect } = expectations;
  heading(`(b) The last change fails, and only when it is really made: Transaction ${shop}/${name}`);
  sayWrapped("A ResourceQuota allows one Service. A dry run is not charged to it, so both pass theirs.", 2, dim);
  // It answers every change of the Deployment with writes of its own.
  const deploymentControllerIsDone = () =>
    until("the Deployment controller has seen web-server", async () => {
      const deployment = await admin.get(webServer);
      const { observedGeneration } = (deployment?.["status"] ?? {}) as { readonly observedGeneration?: number };
      return observedGeneration !== undefined && observedGeneration === deployment?.metadata.generation;
    });
  const { name: quotaName, namespace, ...kind } = quota;
  const metadata = { name: quotaName, namespace };
  await admin.apply({ ...kind, metadata, spec: { hard: { "count/services": "1" } } }, "platform-team");
  await until("the quota is in force", async () => {
    const { status } = (await admin.get(quota)) as { readonly status?: { readonly hard?: object } };
    return status?.hard !== undefined;
  });

  await deploymentControllerIsDone();
  const before = await Promise.all(targets.map(admin.get));
  const transaction = await runTransaction(admin, name, { changes }, progressPrinter(stopwatch(), { items: true }));
  await deploymentControllerIsDone();
  const after = await Promise.all(targets.map(admin.get));
  await until("an event tells why", () => isTold(admin));

  const { phase, items } = transaction.status;
  expect(`${name} is RolledBack`, phase === "RolledBack", `it is ${phase}`);
  const made = items.filter(({ state }) => state.type === "restored").length;
  expect("four changes were made and rolled back", made === 4, `${made} were`);
  expect("the last change was refused when it was made", items[4]?.state.type === "rejected");
  say();
  say("Proof: everything that the API server says of each object, before and after");
  prove(
    targets.map((target, index) => ({ target, before: before[index], after: after[index] })),
    expectations,
  );
};
