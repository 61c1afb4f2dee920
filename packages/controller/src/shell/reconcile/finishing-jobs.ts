// Jobs may delete themselves once they have finished: how they ended is kept, for gates.
import { finishedJob } from "../../core/index.ts";
import type { Finishing } from "@janus/runtime/parts";

export const JOBS: Finishing = {
  has: ({ group, kind }) => group === "batch" && kind === "Job",
  finished: finishedJob,
};
