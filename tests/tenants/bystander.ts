import type { Api, KubeObject } from "@janus/kube";
import { startReflector } from "@janus/runtime/parts";
import { transactions } from "@janus/controller";
import { phaseOf } from "../load/crowd.ts";
import { configMaps } from "../load/world.ts";
import type { Tenant } from "./tenant.ts";

/** Somebody with ten-change Transactions, one after the other. */
export interface Bystander {
  /** How long each of so many took from its creation until it was Committed, in ms. */
  readonly times: (count: number) => Promise<readonly number[]>;
  readonly stop: () => void;
}

const cm = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name });

/** Longer than any of them takes that is not held up for good, in ms. */
const PATIENCE = 90_000;

export const bystander = async (admin: Api, { namespace, create, submit, api }: Tenant): Promise<Bystander> => {
  const watching = new AbortController();
  const ended = new Map<string, (object: KubeObject) => void>();
  const { synced } = startReflector(
    admin,
    { resource: transactions, namespace },
    {
      signal: watching.signal,
      onEvent: (event) => {
        if (event.type !== "applied") return;
        if (["Committed", "RolledBack", "Failed"].includes(phaseOf(event.object)))
          ended.get(event.object.metadata.name ?? "")?.(event.object);
      },
    },
  );
  await synced;
  for (let n = 0; n < 5; n += 1) await create(configMaps, { metadata: { name: `kept-${n}` }, data: { run: "none" } });
  let made = 0;

  const one = async (): Promise<number> => {
    made += 1;
    const name = `ten-${made}`;
    const changes = Array.from({ length: 10 }, (_, n) =>
      n % 2 === 0
        ? { type: "Patch", target: cm(`kept-${n / 2}`), content: { data: { run: name } } }
        : { type: "Create", target: cm(`${name}-${n}`), content: { data: { made: "yes" } } },
    );
    const { promise, resolve, reject } = Promise.withResolvers<KubeObject>();
    ended.set(name, resolve);
    const timer = setTimeout(() => reject(new Error(`the bystander's ${name} has not ended in time`)), PATIENCE);
    const began = performance.now();
    await submit(name, changes);
    const phase = phaseOf(await promise);
    const took = performance.now() - began;
    clearTimeout(timer);
    ended.delete(name);
    if (phase !== "Committed") throw new Error(`the bystander's ${name} is ${phase}`);
    await api.send({ verb: "delete", resource: transactions, namespace, name });
    return took;
  };

  return {
    times: async (count) => {
      const times: number[] = [];
      for (let n = 0; n < count; n += 1) times.push(await one());
      return times;
    },
    stop: () => watching.abort(),
  };
};

export const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
