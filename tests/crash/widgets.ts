// A custom kind with a status, for targets that only the model had.
import type { Api, Resource } from "@janus/kube";
import { crds } from "./transactions.ts";
import { must } from "./world.ts";

/** The kind of the model's targets, on the real API server. */
export const widgets: Resource = {
  group: "example.com",
  version: "v1",
  plural: "widgets",
  kind: "Widget",
  namespaced: true,
  statusSubresource: true,
};

const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              data: { type: "object", additionalProperties: { type: "string" } },
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            },
          },
        },
      },
    ],
  },
};

const clusterRoles: Resource = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural: "clusterroles",
  kind: "ClusterRole",
  namespaced: false,
  statusSubresource: false,
};

/** Part of the role `admin`: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles */
const role = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "widgets", labels: { "rbac.authorization.k8s.io/aggregate-to-admin": "true" } },
  rules: [{ apiGroups: ["example.com"], resources: ["widgets", "widgets/status"], verbs: ["*"] }],
};

/** Has the API server serve Widgets, and admins of a namespace do with them what they like. */
export const installWidgets = async (api: Api): Promise<void> => {
  for (const [resource, body] of [
    [crds, crd],
    [clusterRoles, role],
  ] as const)
    must(
      await api.send({
        verb: "apply",
        resource,
        name: body.metadata.name,
        body,
        fieldManager: "setup",
        force: true,
      }),
    );
  for (let tries = 0; tries < 300; tries += 1) {
    const listed = await api.send({ verb: "list", resource: widgets, namespace: "default" });
    const admin = must(await api.send({ verb: "get", resource: clusterRoles, name: "admin" }));
    if (listed._tag === "Right" && JSON.stringify(admin["rules"]).includes("example.com")) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the API server never served Widgets");
};
