import type { JsonObject, Target } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import type { Admin } from "./admin.ts";

/** Where everything of the demo happens. */
export const shop = "shop";
export const serviceAccountName = "deploy-sa";

export const appConfig: Target = { apiVersion: "v1", kind: "ConfigMap", namespace: shop, name: "app-config" };
export const webServer: Target = { apiVersion: "apps/v1", kind: "Deployment", namespace: shop, name: "web-server" };
export const secret = (name: string): Target => ({ apiVersion: "v1", kind: "Secret", namespace: shop, name });

/** One of the settings that the last part changes; `n` counts from 1. */
export const setting = (n: number): Target => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: shop,
  name: `setting-${`${n}`.padStart(2, "0")}`,
});

const object = ({ apiVersion, kind, ...metadata }: Target, content: JsonObject): KubeObject => ({
  apiVersion,
  kind,
  metadata,
  ...content,
});

/** No more than the Transactions of the demo need: to read, to change, to roll back, to wait, and to name the Pod that is to blame. */
const rules = [
  { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "patch", "update"] },
  { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "patch", "update", "list", "watch"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["get", "delete", "create", "update"] },
  { apiGroups: [""], resources: ["services"], verbs: ["get", "create", "delete"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
];

const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", namespace: shop, name: serviceAccountName };

const deployment = {
  replicas: 2,
  selector: { matchLabels: { app: "web-server" } },
  template: {
    metadata: { labels: { app: "web-server" } },
    spec: { containers: [{ name: "web", image: "myapp:v1.0", ports: [{ containerPort: 8080 }] }] },
  },
};

const objects = (settings: number): readonly KubeObject[] => [
  object({ apiVersion: "v1", kind: "ServiceAccount", namespace: shop, name: serviceAccountName }, {}),
  object({ ...rbac, kind: "Role" }, { rules }),
  object(
    { ...rbac, kind: "RoleBinding" },
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: serviceAccountName },
      subjects: [{ kind: "ServiceAccount", name: serviceAccountName, namespace: shop }],
    },
  ),
  object(appConfig, { data: { version: "1.0", greeting: "hello" } }),
  object(webServer, { spec: deployment }),
  object(secret("old-api-key"), { stringData: { key: "swordfish" } }),
  object(secret("api-key"), { stringData: { key: "open sesame" } }),
  ...Array.from({ length: settings }, (_, n) => object(setting(n + 1), { data: { release: "1.0" } })),
];

/** What was there before Janus came: a small shop in a namespace of its own, and a ServiceAccount that may change it. */
export const openShop = async (admin: Admin, settings: number): Promise<void> => {
  await admin.apply(object({ apiVersion: "v1", kind: "Namespace", name: shop }, {}), "platform-team");
  await Promise.all(objects(settings).map((one) => admin.apply(one, "platform-team")));
  // A second owner of fields, so that there is more than one to give them back to.
  await admin.apply(object(appConfig, { data: { currency: "EUR" } }), "shop-team");
};
