// Somebody who uses a controller while a neighbour does what he likes: how long each of his objects takes.
import type { Api, KubeObject, Resource } from "@janus/kube";
import { startReflector } from "@janus/runtime/parts";
import type { Tenant } from "./tenant.ts";

export interface Bystander {
  /** How long each of so many objects took from its creation until it had ended well, in ms; one after the other. */
  readonly times: (count: number) => Promise<readonly number[]>;
  readonly stop: () => void;
}

/** What he lets the controller work on. */
export interface Errand {
  readonly resource: Resource;
  /** Creates the n-th, of this name. */
  readonly submit: (name: string) => Promise<unknown>;
  /** Undefined: it has not ended. */
  readonly endOf: (object: KubeObject) => string | undefined;
  readonly ends: string;
}

/** Longer than any of them takes that is not held up for good, in ms. */
const PATIENCE = 90_000;

export const bystander = async (
  admin: Api,
  { namespace, api }: Tenant,
  { resource, submit, endOf, ends }: Errand,
): Promise<Bystander> => {
  const watching = new AbortController();
  const ended = new Map<string, (end: string) => void>();
  const { synced } = startReflector(
    admin,
    { resource, namespace },
    {
      signal: watching.signal,
      onEvent: (event) => {
        if (event.type !== "applied") return;
        const end = endOf(event.object);
        if (end !== undefined) ended.get(event.object.metadata.name ?? "")?.(end);
      },
    },
  );
  await synced;
  let made = 0;

  const one = async (): Promise<number> => {
    made += 1;
    const name = `errand-${made}`;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    ended.set(name, resolve);
    const timer = setTimeout(() => reject(new Error(`the bystander's ${name} has not ended in time`)), PATIENCE);
    const began = performance.now();
    await submit(name);
    const end = await promise;
    const took = performance.now() - began;
    clearTimeout(timer);
    ended.delete(name);
    if (end !== ends) throw new Error(`the bystander's ${name} is ${end}`);
    await api.send({ verb: "delete", resource, namespace, name });
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
