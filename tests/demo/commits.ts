import type { JsonObject } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import { progressPrinter, stopwatch } from "./print-progress.ts";
import { runTransaction } from "./run-transaction.ts";
import { heading, say } from "./say.ts";
import { appConfig, secret, shop, webServer } from "./shop.ts";
import type { Stage } from "./stage.ts";

const name = "deploy-v2";

export const imagePatch = (image: string): JsonObject => ({
  spec: { template: { spec: { containers: [{ name: "web", image }] } } },
});

const changes = [
  { target: { ...appConfig }, type: "Patch", content: { data: { version: "2.0" } } },
  { target: { ...webServer }, type: "Patch", content: imagePatch("myapp:v2.0") },
  { target: { ...secret("old-api-key") }, type: "Delete" },
];

export const versionIn = (configMap: KubeObject | undefined): string | undefined =>
  (configMap?.["data"] as { readonly version?: string } | undefined)?.version;

export const imageIn = (deployment: KubeObject | undefined): string | undefined => {
  const spec = deployment?.["spec"] as
    | { readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } }
    | undefined;
  return spec?.template.spec.containers[0]?.image;
};

/** Three changes of different kinds, all of them made. */
export const commits = async ({ admin, expectations: { expect } }: Stage): Promise<void> => {
  heading(`(a) Three changes that happen together: Transaction ${shop}/${name}`);
  const look = () => Promise.all([appConfig, webServer, secret("old-api-key")].map(admin.get));
  const [configBefore, deploymentBefore, secretBefore] = await look();
  const transaction = await runTransaction(admin, name, { changes }, progressPrinter(stopwatch(), { items: true }));
  const [configMap, deployment, gone] = await look();

  say();
  say(`ConfigMap app-config    data.version  ${versionIn(configBefore)} → ${versionIn(configMap)}`, 2);
  say(`Deployment web-server   image         ${imageIn(deploymentBefore)} → ${imageIn(deployment)}`, 2);
  say(
    `Secret old-api-key      ${secretBefore === undefined ? "missing" : "there"} → ${gone === undefined ? "gone" : "there"}`,
    2,
  );

  const { phase } = transaction.status;
  expect(`${name} is Committed`, phase === "Committed", `it is ${phase}`);
  expect("ConfigMap app-config has data.version 2.0", versionIn(configMap) === "2.0");
  expect("Deployment web-server has the image myapp:v2.0", imageIn(deployment) === "myapp:v2.0");
  expect("Secret old-api-key is gone", secretBefore !== undefined && gone === undefined);
};
