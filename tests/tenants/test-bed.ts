import { readFile, writeFile } from "node:fs/promises";
import { leases } from "@janus/types";
import { compiledProgram } from "../fixtures/image-program.ts";
import { installed, type Installed, type MeasuredReplica } from "../fixtures/installed.ts";
import { samplesOf, total } from "../fixtures/samples.ts";
import { must } from "../load/world.ts";
import { bystander, type Bystander } from "./bystander.ts";
import { tenant } from "./tenant.ts";

export interface TestBed extends Installed {
  readonly janus: MeasuredReplica;
  readonly bystander: Bystander;
  /** Whose term it is, and which. */
  readonly term: () => Promise<string>;
  /** The most memory that the controller has had since this was asked for last, in bytes. */
  readonly mostMemory: () => Promise<number>;
  /** The longest that its event loop was held up since this was asked for last, in ms; what others do on the machine counts. */
  readonly mostDelay: () => Promise<number>;
}

export const BYSTANDER = "bystander";

/** Short terms, so that one that cannot be renewed is lost within an attack. */
const flags = [
  "--leader-elect-lease-duration=10s",
  "--leader-elect-renew-deadline=7s",
  "--leader-elect-retry-period=1s",
  "--write-timeout=3s",
];

export const openTestBed = async (): Promise<TestBed> => {
  const testBed = await installed(flags, undefined, await compiledProgram());
  const janus = await testBed.replica("janus");
  await janus.start();
  const onlooker = await bystander(testBed.api, await tenant(testBed, BYSTANDER));
  return {
    ...testBed,
    janus,
    bystander: onlooker,
    term: async () => {
      const lease = { resource: leases, namespace: "janus-system", name: "janus-controller-leader" };
      const { holderIdentity, leaseTransitions } = must(await testBed.api.send({ verb: "get", ...lease }))[
        "spec"
      ] as Readonly<Record<string, unknown>>;
      return `${String(holderIdentity)}/${String(leaseTransitions)}`;
    },
    mostMemory: async () => {
      const status = await readFile(`/proc/${janus.pid()}/status`, "utf8");
      await writeFile(`/proc/${janus.pid()}/clear_refs`, "5");
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    },
    mostDelay: async () => 1000 * total(samplesOf((await janus.metrics()) ?? ""), "nodejs_eventloop_lag_max_seconds"),
    end: async () => {
      onlooker.stop();
      await testBed.end();
    },
  };
};
