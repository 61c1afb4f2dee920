// A controller that is installed, with its Roles, as one process, and what is measured of it.
import { readFile, writeFile } from "node:fs/promises";
import { leases } from "@janus/types";
import { compiledProgram } from "../fixtures/image-program.ts";
import { installed, type Installed, type MeasuredReplica, type Product } from "../fixtures/installed.ts";
import { samplesOf, total } from "../fixtures/samples.ts";
import { must } from "../load/world.ts";

export interface TestBed extends Installed {
  readonly janus: MeasuredReplica;
  /** Whose term it is, and which. */
  readonly term: () => Promise<string>;
  /** The most memory that the controller has had since this was asked for last, in bytes. */
  readonly mostMemory: () => Promise<number>;
  /** The longest that its event loop was held up since this was asked for last, in ms; what others do on the machine counts. */
  readonly mostDelay: () => Promise<number>;
}

/** A controller to measure. */
export interface Subject {
  readonly product: Product;
  /** Beside those of leader election. */
  readonly flags: readonly string[];
  /** The Lease of its leader. */
  readonly lease: string;
}

/** Short terms, so that one that cannot be renewed is lost within an attack. */
const LEADER_FLAGS = [
  "--leader-elect-lease-duration=10s",
  "--leader-elect-renew-deadline=7s",
  "--leader-elect-retry-period=1s",
];

export const openTestBed = async ({ product, flags, lease }: Subject): Promise<TestBed> => {
  const testBed = await installed([...flags, ...LEADER_FLAGS], undefined, await compiledProgram(), product);
  const janus = await testBed.replica("janus");
  await janus.start();
  return {
    ...testBed,
    janus,
    term: async () => {
      const place = { resource: leases, namespace: "janus-system", name: lease };
      const { holderIdentity, leaseTransitions } = must(await testBed.api.send({ verb: "get", ...place }))[
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
  };
};
