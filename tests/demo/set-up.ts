import type { KubeObject } from "@janus/kube";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { type Admin, admin as connectAdmin } from "./admin.ts";
import { type ControllerProcess, controllerProcess, controllerUser } from "./controller-process.ts";
import type { Expectations } from "./expectations.ts";
import { install, printedManifests } from "./install.ts";
import { dim, heading, say, sayWrapped } from "./say.ts";
import { openShop, shop } from "./shop.ts";
import type { Stage } from "./stage.ts";
import { settings } from "./survives-kill.ts";

const note = (text: string): void => sayWrapped(text, 2, dim);

const names = (objects: readonly KubeObject[]): string =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ");

/** Asks the API server who the controller is, and whether it may do more than it should. */
const checkIdentity = async ({ kubeconfig }: ControllerProcess, { expect }: Expectations): Promise<void> => {
  const { client, create } = connectAdmin(kubeconfig);
  try {
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} };
    const { userInfo } = (await create(review))["status"] as { readonly userInfo: { readonly username: string } };
    expect("the controller has an identity of its own", userInfo.username === controllerUser, userInfo.username);
    const { status } = await create({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      metadata: {},
      spec: { resourceAttributes: { group: "apps", resource: "deployments", verb: "patch", namespace: shop } },
    });
    const { allowed } = status as { readonly allowed: boolean };
    expect("the controller is no administrator", !allowed, "it may patch Deployments as itself");
  } finally {
    await client.close();
  }
};

/** Control plane, Janus, its controller and the shop; `atEnd` takes what has to be ended in the end, last one first. */
export const setUp = async (
  expectations: Expectations,
  atEnd: (end: () => Promise<unknown>) => void,
): Promise<{ readonly controlPlane: ControlPlane; readonly stage: Stage }> => {
  const began = performance.now();
  heading("Setting up a control plane on this machine: etcd, kube-apiserver, kube-controller-manager");
  const [controlPlane, manifests] = await Promise.all([startControlPlane({ log: note }), printedManifests()]);
  atEnd(controlPlane.stop);

  const { installed, leftOut } = await install(controlPlane, manifests);
  note("Installed: npm run -s manifests | kubectl apply --server-side -f -");
  note(`  ${names(installed)}`);
  note(`Left out: ${names(leftOut)}, because there is no kubelet here that could run its Pod. Instead:`);
  const admin: Admin = connectAdmin(controlPlane.kubeconfig);
  atEnd(admin.client.close);
  const controller = await controllerProcess(controlPlane, admin);
  atEnd(controller.end);
  await Promise.all([controller.start(), openShop(admin, settings)]);
  await checkIdentity(controller, expectations);
  note(`Controller: process ${controller.pid()}, as ${controllerUser}, with a token and RBAC of its own`);
  say(dim(`Ready after ${((performance.now() - began) / 1000).toFixed(1)} s`));
  return { controlPlane, stage: { admin, controller, expectations } };
};
