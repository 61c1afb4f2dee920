// The entry point of the process that executes ActionSets.
import { randomBytes } from "node:crypto";
import { packageVersion, runProcess } from "@janus/runtime/parts";
import { FENCE } from "../api/names.ts";
import { LEADER_LABEL, parseFlags } from "./flags.ts";
import { NAMES } from "./names.ts";
import { startWork } from "./work.ts";

await runProcess(
  parseFlags(
    process.argv.slice(2).filter((arg) => arg !== "--blueprints"),
    process.env,
  ),
  {
    names: NAMES,
    version: packageVersion(new URL("../../package.json", import.meta.url)),
    fence: FENCE,
    leaderLabel: LEADER_LABEL,
    limits: {
      http: { connections: 256, headerBytes: 8192, arrival: 3000, check: 500 },
      connections: { requests: 200, renewals: 1, election: 4, aside: 4 },
      stuckAfter: 60_000,
      asideDeadline: 2000,
    },
    instead: "create ActionSets with the API server",
    start: (context, flags) => startWork(context, flags, { ...flags, seed: randomBytes(16).toString("hex") }),
  },
);
