// Attacks on the ActionSets of other namespaces, by a user who may edit in one: the worst that we know of.
import { ACTION_SET_UID, actionSets } from "@janus/blueprints";
import type { JsonObject } from "@janus/api";
import { configMaps, secrets } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type Attack, again, allOf, many, submitted } from "./any-controller.ts";
import { type Author, kubeOps, makes } from "./recipes.ts";

const text = (bytes: number): string => "x".repeat(bytes);

/** A phase that waits for what does not come. */
const waits = (name: string, on: string): object => ({
  func: "Wait",
  name,
  args: {
    timeout: "1000h",
    conditions: {
      allOf: [
        {
          condition: '{{ if eq "{$.data.ready}" "never" }}true{{ end }}',
          objectReference: {
            apiVersion: "v1",
            resource: "configmaps",
            name: on,
            namespace: "{{ .Object.metadata.name }}",
          },
        },
      ],
    },
  },
});

const edit = ({ api, namespace }: Author, name: string, n: number): Promise<unknown> =>
  api.send({ verb: "mergePatch", resource: configMaps, namespace, name, body: { data: { n: `${n}` } } });

export const attacks: readonly Attack<Author>[] = [
  {
    title: "300 ActionSets at once",
    attack: async ({ recipe, run }) => {
      await recipe("many", [makes("one", "x"), makes("two", "x")]);
      await allOf(300, (n) => run(`many-${n}`, "many"));
      return submitted;
    },
  },
  {
    title: "50 actions of 100 phases each",
    attack: async ({ recipe, run }) => {
      await recipe(
        "wide",
        many(100, (n) => makes(`phase${n}`, "x")),
      );
      await allOf(2, (n) => run(`wide-${n}`, "wide", 50));
      return submitted;
    },
  },
  {
    title: "templates that never end, and regular expressions that backtrack",
    attack: async ({ recipe, run }) => {
      await recipe("loop", [
        makes("loop", "{{ range until 1000000000 }}{{ range until 1000000000 }}x{{ end }}{{ end }}"),
      ]);
      await recipe("backtrack", [makes("backtrack", "{{ regexMatch `^(a+)+$` (printf `%sb` (repeat 100000 `a`)) }}")]);
      await recipe("grow", [makes("grow", "{{ repeat 1000000 (repeat 1000000 `x`) }}")]);
      await allOf(30, (n) => run(`loop-${n}`, ["loop", "backtrack", "grow"][n % 3] ?? ""));
      return submitted;
    },
  },
  {
    title: "ActionSets that wait for ever for an object that is edited all the time",
    attack: async (author) => {
      await author.create(configMaps, { metadata: { name: "restless" }, data: { n: "0" } });
      await author.recipe("wait", [waits("wait", "restless")]);
      await allOf(100, (n) => author.run(`wait-${n}`, "wait"));
      return again(1, (n) => edit(author, "restless", n));
    },
  },
  {
    title: "200 ActionSets with 250 KB of annotations each, which wait for ever",
    attack: async (author) => {
      await author.create(configMaps, { metadata: { name: "quiet" }, data: { n: "0" } });
      await author.recipe("wait", [waits("wait", "quiet")]);
      const annotations = { long: text(250_000) };
      await allOf(200, (n) => author.run(`hoard-${n}`, "wait", 1, { annotations }));
      return submitted;
    },
  },
  {
    title: "objects of 900 KB, of which each phase renders a part",
    attack: async (author) => {
      await author.create(configMaps, { metadata: { name: "large" }, data: { text: text(900_000) } });
      const objects = { large: { kind: "ConfigMap", name: "large", namespace: author.namespace } };
      await author.recipe(
        "large",
        many(20, (n) => makes(`part${n}`, "{{ index .ConfigMaps.large.Data `text` | trunc 1000 }}")),
        { configMapNames: ["large"] },
      );
      await allOf(10, (n) =>
        author.create(actionSets, {
          metadata: { name: `large-${n}` },
          spec: {
            actions: [
              {
                name: "run",
                blueprint: "large",
                object: { kind: "namespace", name: author.namespace },
                configMaps: objects,
              },
            ],
          },
        }),
      );
      return submitted;
    },
  },
  {
    title: "ActionSets in which everything is wrong",
    attack: async (author) => {
      await author.recipe(
        "wrong",
        many(100, (n) => ({ func: `Unknown${n}`, name: "same", args: { a: "{{" } })),
      );
      await allOf(40, (n) => author.run(`wrong-${n}`, "wrong", 50));
      await allOf(40, (n) => author.create(actionSets, { metadata: { name: `empty-${n}` }, spec: {} }));
      await allOf(40, (n) => author.create(actionSets, { metadata: { name: `none-${n}` } }));
      return submitted;
    },
  },
  {
    title: "Pods that never run",
    attack: async (author) => {
      await author.recipe("pods", [
        { func: "KubeTask", name: "task", args: { image: "nothing", command: ["true"], namespace: author.namespace } },
      ]);
      await allOf(100, (n) => author.run(`pod-${n}`, "pods"));
      return submitted;
    },
  },
  {
    title: "ActionSets that come and go",
    attack: async (author) => {
      await author.recipe("fleeting", [makes("one", "x"), makes("two", "x")]);
      return again(2, async (n) => {
        await author.run(`fleeting-${n}`, "fleeting");
        await author.api.send({
          verb: "delete",
          resource: actionSets,
          namespace: author.namespace,
          name: `fleeting-${n}`,
        });
      });
    },
  },
  {
    title: "journals that are overwritten, and statuses that are edited",
    attack: async (author) => {
      const { api, namespace, recipe, run } = author;
      await author.create(configMaps, { metadata: { name: "quiet" }, data: { n: "0" } });
      await recipe("wait", [makes("one", "x"), waits("wait", "quiet")]);
      await allOf(20, (n) => run(`scribbled-${n}`, "wait"));
      const scribble = async (n: number): Promise<void> => {
        const list = await api.send({ verb: "list", resource: secrets, namespace, labelSelector: ACTION_SET_UID });
        const items = E.isRight(list) ? ((list.right["items"] ?? []) as readonly JsonObject[]) : [];
        for (const { metadata } of items as readonly { readonly metadata: { readonly name: string } }[])
          await api.send({
            verb: "mergePatch",
            resource: secrets,
            namespace,
            name: metadata.name,
            body: { data: { journal: Buffer.from(`{"version":1,"n":${n}}`).toString("base64") } },
          });
        await api.send({
          verb: "mergePatch",
          resource: actionSets,
          namespace,
          name: `scribbled-${n % 20}`,
          body: { status: { state: n % 2 === 0 ? "pending" : "running" } },
        });
      };
      return again(1, scribble);
    },
  },
  {
    title: "objects that are made and deleted for ever, and a finalizer that holds them",
    attack: async (author) => {
      const { recipe, run, namespace } = author;
      await author.create(configMaps, { metadata: { name: "held", finalizers: ["example.com/held"] } });
      await recipe("delete", [
        kubeOps("delete", {
          operation: "delete",
          objectReference: { apiVersion: "v1", resource: "configmaps", name: "held", namespace },
        }),
      ]);
      await allOf(100, (n) => run(`delete-${n}`, "delete"));
      return async () => {
        await author.api.send({
          verb: "mergePatch",
          resource: configMaps,
          namespace,
          name: "held",
          body: { metadata: { finalizers: null } },
        });
      };
    },
  },
];
