import type { Client } from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

export interface Bystander {
  /** Ends it. Times in ms, from fast to slow, and what was not answered as it should. */
  readonly end: () => Promise<{ readonly times: readonly number[]; readonly refused: readonly string[] }>;
}

/** Somebody with no part in it, who reads a ConfigMap again and again. */
export const bystander = (api: Client, namespace: string, name: string): Bystander => {
  const times: number[] = [];
  const refused: string[] = [];
  const ended = new AbortController();
  const look = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      const began = performance.now();
      const answer = await api.send({ verb: "get", resource: configMaps, namespace, name });
      times.push(performance.now() - began);
      if (E.isLeft(answer)) refused.push(answer.left.message);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const looking = look();
  return {
    end: async () => {
      ended.abort();
      await looking;
      return { times: times.toSorted((a, b) => a - b), refused };
    },
  };
};

export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
