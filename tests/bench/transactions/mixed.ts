// Ten changes of all types, against the request that each of them is made with, one after the other.
import type { JsonObject } from "@janus/api";
import { configMaps, secrets } from "@janus/types";
import { create, must } from "../../load/world.ts";
import { timed } from "../figures.ts";
import { type Cluster, NAMESPACE } from "./cluster.ts";
import type { Controllers } from "./controllers.ts";
import type { Change } from "./objects.ts";
import type { Scenario } from "./scenario.ts";

const TYPES: readonly (readonly [Change["type"], "ConfigMap" | "Secret"])[] = [
  ["Create", "ConfigMap"],
  ["Create", "Secret"],
  ["Update", "ConfigMap"],
  ["Patch", "ConfigMap"],
  ["Patch", "Secret"],
  ["Apply", "ConfigMap"],
  ["Apply", "Secret"],
  ["Replace", "ConfigMap"],
  ["Delete", "ConfigMap"],
  ["Delete", "Secret"],
];

const RESOURCES = { ConfigMap: configMaps, Secret: secrets };
const encoded = (kind: keyof typeof RESOURCES, value: string): { readonly value: string } => ({
  value: kind === "Secret" ? Buffer.from(value).toString("base64") : value,
});

const contentOf = (type: Change["type"], kind: keyof typeof RESOURCES, name: string): JsonObject => ({
  ...(type === "Patch" ? {} : { apiVersion: "v1", kind, metadata: { name, namespace: NAMESPACE } }),
  data: encoded(kind, "new"),
});

/** All but what is created. */
const prepare = async ({ api }: Cluster, prefix: string): Promise<void> => {
  for (const [n, [type, kind]] of TYPES.entries())
    if (type !== "Create")
      await create(api, RESOURCES[kind], NAMESPACE, {
        metadata: { name: `${prefix}-${n}` },
        data: encoded(kind, "old"),
      });
};

const writeBare = async ({ api }: Cluster, prefix: string): Promise<void> => {
  for (const [n, [type, kind]] of TYPES.entries()) {
    const name = `${prefix}-${n}`;
    const at = { resource: RESOURCES[kind], namespace: NAMESPACE };
    const body = contentOf("Apply", kind, name);
    if (type === "Create") must(await api.send({ verb: "create", ...at, body }));
    else if (type === "Delete") must(await api.send({ verb: "delete", ...at, name }));
    else must(await api.send({ verb: "apply", ...at, name, body, fieldManager: "bench", force: true }));
  }
};

export const mixed = (cluster: Cluster, { running }: Controllers): Scenario => ({
  name: "ten changes of all types",
  rounds: [2, 5],
  sides: {
    Janus: async (round) => {
      await running();
      const name = `mixed-${round}`;
      await prepare(cluster, name);
      const changes = TYPES.map(([type, kind], n) => ({
        type,
        target: { apiVersion: "v1", kind, name: `${name}-${n}` },
        ...(type === "Delete" ? {} : { content: contentOf(type, kind, `${name}-${n}`) }),
      }));
      const ms = await timed(() => cluster.reach("Committed", name, changes));
      await cluster.over([name]);
      return { ms };
    },
    "bare writes": async (round) => {
      await prepare(cluster, `mixed-bare-${round}`);
      return { ms: await timed(() => writeBare(cluster, `mixed-bare-${round}`)) };
    },
  },
});
