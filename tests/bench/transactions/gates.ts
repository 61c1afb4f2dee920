// Gates: what they cost when they are met at once, and how soon a Transaction goes on when one is met.
import type { KubeObject } from "@janus/kube";
import { configMaps } from "@janus/types";
import { must } from "../../load/world.ts";
import { timed } from "../figures.ts";
import { type Cluster, NAMESPACE } from "./cluster.ts";
import type { Controllers } from "./controllers.ts";
import { namesOf, patch } from "./objects.ts";
import type { Scenario, Side } from "./scenario.ts";

const CHANGES = 10;

const isWaiting = ({ status }: KubeObject & { readonly status?: { readonly items?: readonly object[] } }): boolean =>
  status?.items?.some((item) => "waitingFor" in item) === true;

export const gates = (cluster: Cluster, { running }: Controllers): readonly Scenario[] => {
  const ten =
    (isGated: boolean): Side =>
    async (round) => {
      await running();
      await cluster.haveTargets("janus", CHANGES);
      const name = `${isGated ? "gated" : "ungated"}-${round}`;
      const changes = namesOf("janus", CHANGES).map((target) => ({
        ...patch(target, name),
        ...(isGated ? { waitFor: [`jsonpath={.data.value}=${name}`] } : {}),
      }));
      const ms = await timed(() => cluster.reach("Committed", name, changes));
      await cluster.over([name]);
      return { ms };
    };
  const met: Side = async (round) => {
    await running();
    await cluster.haveTargets("janus", 1);
    const name = `waiting-${round}`;
    const [target = ""] = namesOf("janus", 1);
    const change = { ...patch(target, name), waitFor: [`jsonpath={.data.ready}=${name}`] };
    const committed = cluster.reach("Committed", name, [change]);
    await Promise.race([committed, cluster.when(name, isWaiting)]);
    const at = { resource: configMaps, namespace: NAMESPACE, name: target };
    const ms = await timed(async () => {
      must(await cluster.api.send({ verb: "mergePatch", ...at, body: { data: { ready: name } } }));
      await committed;
    });
    await cluster.over([name]);
    return { ms };
  };
  return [
    {
      name: "ten Patches, each with a gate that is met at once",
      rounds: [2, 5],
      sides: { "with gates": ten(true), "without gates": ten(false) },
    },
    { name: "from the write that meets a gate to the commit", rounds: [2, 5], sides: { Janus: met } },
  ];
};
