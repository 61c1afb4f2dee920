import type { Fields } from "./target.ts";

export const GROUP = "restore.test.janus.io";

/** A kind with every sort of list, whose status is a subresource or part of the object. */
const crd = (kind: string, status: boolean): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${kind.toLowerCase()}s.${GROUP}` },
  spec: {
    group: GROUP,
    names: { kind, plural: `${kind.toLowerCase()}s` },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        ...(status ? { subresources: { status: {} } } : {}),
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
              spec: {
                type: "object",
                properties: {
                  colour: { type: "string" },
                  hosts: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  args: { type: "array", items: { type: "string" } },
                  selector: {
                    type: "object",
                    additionalProperties: { type: "string" },
                    "x-kubernetes-map-type": "atomic",
                  },
                  ports: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    items: {
                      type: "object",
                      required: ["port"],
                      properties: {
                        port: { type: "integer" },
                        protocol: { type: "string", default: "TCP" },
                        name: { type: "string" },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
});

export const customKinds = [crd("Plain", false), crd("Split", true)];

export const custom = {
  colour: "red",
  hosts: ["a<b", "c"],
  args: ["x"],
  ports: [{ port: 80 }, { port: 53, protocol: "UDP" }],
};
export const podTemplate = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image, env: [{ name: "A", value: "1" }] }] },
});

export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  /** What a GitOps tool applied. */
  readonly applied: Fields;
  /** What a person edited since. */
  readonly edited: Fields;
  readonly patch: Fields;
  /** Of an Update. */
  readonly content: Fields;
}

export const kinds: readonly Kind[] = [
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    applied: {
      metadata: { labels: { app: "shop" }, finalizers: ["example.com/b"] },
      data: { version: "1", colour: "blue" },
    },
    edited: { metadata: { annotations: { note: "a & b" } }, data: { extra: "x", ["__proto__"]: "p" } },
    patch: {
      metadata: { labels: { app: "other", more: "1" }, finalizers: ["example.com/a"] },
      data: { version: "2", added: "1" },
    },
    content: { metadata: { finalizers: [] }, data: { version: "2", extra: "y" } },
  },
  {
    apiVersion: "v1",
    kind: "Secret",
    applied: { type: "Opaque", stringData: { key: "1", other: "o" } },
    edited: { metadata: { labels: { by: "person" } } },
    patch: { data: { key: "Mg==" } },
    content: { type: "Opaque", data: { key: "Mg==" } },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    applied: {
      spec: {
        selector: { app: "web" },
        ports: [
          { port: 80, name: "http" },
          { port: 53, protocol: "UDP", name: "dns" },
        ],
      },
    },
    edited: { spec: { sessionAffinity: "ClientIP" } },
    patch: {
      spec: {
        selector: { app: "new" },
        ports: [
          { port: 80, protocol: "TCP", targetPort: 8080, name: "http" },
          { port: 81, name: "more" },
        ],
      },
    },
    content: { spec: { selector: { app: "new" }, ports: [{ port: 80, name: "http" }] } },
  },
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    applied: { metadata: { annotations: { role: "a" } } },
    edited: { automountServiceAccountToken: false },
    patch: { metadata: { annotations: { role: "b" }, labels: { x: "y" } }, automountServiceAccountToken: true },
    content: { metadata: { annotations: {} } },
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    applied: { spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } } },
    edited: { metadata: { labels: { by: "person" } } },
    patch: { spec: { minAvailable: 2 } },
    content: { spec: { maxUnavailable: "50%", selector: { matchLabels: { app: "web" } } } },
  },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    applied: { spec: { selector: { matchLabels: { app: "web" } }, template: podTemplate("web:1") } },
    edited: { metadata: { labels: { by: "person" } }, spec: { replicas: 2 } },
    patch: {
      spec: {
        replicas: 3,
        template: {
          spec: {
            containers: [
              { name: "web", image: "web:2", env: [{ name: "B", value: "2" }] },
              { name: "side", image: "side:1" },
            ],
          },
        },
      },
    },
    content: { spec: { selector: { matchLabels: { app: "web" } }, template: podTemplate("web:2") } },
  },
  ...["Plain", "Split"].map((kind) => ({
    apiVersion: `${GROUP}/v1`,
    kind,
    applied: { spec: custom },
    edited: {
      metadata: { finalizers: ["example.com/a"] },
      spec: {
        ports: [
          { port: 80, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
          { port: 1, protocol: "TCP", name: "theirs" },
        ],
      },
    },
    patch: {
      spec: {
        colour: "blue",
        hosts: ["d"],
        ports: [
          { port: 80, protocol: "TCP", name: "http" },
          { port: 53, protocol: "TCP" },
        ],
        args: [],
      },
      status: { phase: "ours" },
    },
    content: { spec: { colour: "blue", hosts: ["a<b"], ports: [{ port: 53 }] } },
  })),
];
