// The controllers of a run, as the image runs them: one works at a time, and is started when something needs it.
import type { Replica } from "../../fixtures/replica.ts";
import { type ImageReplicas, imageReplicas } from "../image-replicas.ts";

export interface Controllers {
  /** The one that runs; it is started if none does. */
  readonly running: () => Promise<Replica>;
  /** Another one, which is not started. */
  readonly another: () => Promise<Replica>;
  /** From now on this is the one that runs. */
  readonly succeed: (replica: Replica) => void;
  /** None runs any more. */
  readonly stop: () => Promise<void>;
  readonly end: ImageReplicas["end"];
}

/** @param directory is deleted in the end */
export const controllers = async (directory: string, kubeconfig: string): Promise<Controllers> => {
  const replicas = await imageReplicas(directory);
  let count = 0;
  let current: Replica | undefined;
  const another = (): Promise<Replica> => replicas.create(`controller-${count++}`, [`--kubeconfig=${kubeconfig}`]);
  return {
    running: async () => {
      if (current === undefined) {
        current = await another();
        await current.start();
      }
      return current;
    },
    another,
    succeed: (replica) => {
      current = replica;
    },
    stop: async () => {
      await replicas.stop();
      current = undefined;
    },
    end: replicas.end,
  };
};

/** Resolves when it leads. */
export const leads = async ({ status }: Replica): Promise<void> => {
  while ((await status())?.leader !== true) await new Promise((resolve) => setTimeout(resolve, 10));
};
