import type { KubeObject } from "@janus/kube";
import { startControlPlane } from "../control-plane/control-plane.ts";
import { type Admin, admin as connectAdmin } from "./admin.ts";
import type { Expectations } from "./expectations.ts";
import { install, printedManifests } from "./install.ts";
import { controllerUser, type Replicas, twoReplicas } from "./replicas.ts";
import { dim, heading, say, sayWrapped } from "./say.ts";
import { openShop, shop } from "./shop.ts";
import type { Stage } from "./stage.ts";
import { settings } from "./survives-kill.ts";

const note = (text: string): void => sayWrapped(text, 2, dim);

const names = (objects: readonly KubeObject[]): string =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ");

/** Asks the API server who the controllers are, and whether they may do more than they should. */
const checkIdentity = async ({ kubeconfig }: Replicas, { expect }: Expectations): Promise<void> => {
  const { client, create } = connectAdmin(kubeconfig);
  try {
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} };
    const { userInfo } = (await create(review))["status"] as { readonly userInfo: { readonly username: string } };
    expect("the controllers have an identity of its own", userInfo.username === controllerUser, userInfo.username);
    const { status } = await create({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      metadata: {},
      spec: { resourceAttributes: { group: "apps", resource: "deployments", verb: "patch", namespace: shop } },
    });
    const { allowed } = status as { readonly allowed: boolean };
    expect("the controllers are no administrators", !allowed, "they may patch Deployments as themselves");
  } finally {
    await client.close();
  }
};

/** Control plane, Janus, its controllers and the shop; `atEnd` takes what has to be ended in the end, last one first. */
export const setUp = async (
  expectations: Expectations,
  atEnd: (end: () => Promise<unknown>) => void,
): Promise<Stage> => {
  const began = performance.now();
  heading("Setting up a control plane on this machine");
  const [controlPlane, manifests] = await Promise.all([startControlPlane({ log: note }), printedManifests()]);
  atEnd(controlPlane.stop);

  const { installed, leftOut } = await install(controlPlane, manifests);
  note("Installed: npm run -s manifests -- --image=… | kubectl apply --server-side -f -");
  sayWrapped(names(installed), 4, dim);
  note(`Left out: ${names(leftOut)}, because there is no kubelet here that could run its Pods. Instead:`);
  const admin: Admin = connectAdmin(controlPlane.kubeconfig);
  atEnd(admin.client.close);
  const replicas = await twoReplicas(controlPlane, admin);
  atEnd(replicas.end);
  await Promise.all([replicas.start(), openShop(admin, settings)]);
  await checkIdentity(replicas, expectations);
  const leader = await replicas.leader();
  const processes = replicas.all.map((one) => `${one.name} (pid ${one.pid()}${one === leader ? ", leads" : ""})`);
  sayWrapped(`${processes.join(" and ")}, as ${controllerUser}, with a token and RBAC of their own. Logs:`, 4, dim);
  for (const { logFile } of replicas.all) say(dim(logFile), 2);
  say(dim(`Ready after ${((performance.now() - began) / 1000).toFixed(1)} s`));
  return { controlPlane, admin, replicas, expectations };
};
