// Controllers as their image runs them, each a process of its own, so that its memory and CPU time can be measured.
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { leash } from "../control-plane/leash.ts";
import { compiledProgram, imageEnvironment, nodeFlags } from "../fixtures/image-program.ts";
import { type Replica, replica } from "../fixtures/replica.ts";

export interface ImageReplicas {
  /** One that is not started yet. */
  readonly create: (name: string, flags: readonly string[]) => Promise<Replica>;
  /** Stops all that run. */
  readonly stop: () => Promise<void>;
  /** Deletes the directory, and kills what is left. */
  readonly end: () => Promise<void>;
}

/** @param directory of everything; is deleted in the end */
export const imageReplicas = async (directory: string): Promise<ImageReplicas> => {
  const home = path.join(directory, "replicas");
  await mkdir(home, { recursive: true });
  const held = leash(directory);
  const program = await compiledProgram();
  // Replicas have the environment of this process.
  Object.assign(process.env, imageEnvironment());
  const replicas: Replica[] = [];
  return {
    create: async (name, flags) => {
      const made = await replica(name, flags, home, held, nodeFlags(), program);
      replicas.push(made);
      return made;
    },
    stop: async () => void (await Promise.all(replicas.map((one) => one.stop()))),
    end: held.end,
  };
};
