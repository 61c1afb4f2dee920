// The controller as it runs in its image, on a control plane of its own, and the most memory that it ever held.
import { readFile } from "node:fs/promises";
import { type JsonObject, transactions } from "@janus/api";
import type { Client } from "@janus/kube";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { compiledProgram } from "../fixtures/image-program.ts";
import { installed, type Installed, type MeasuredReplica } from "../fixtures/installed.ts";
import { phaseOf } from "./crowd.ts";
import { read } from "./world.ts";

const MiB = 2 ** 20;
/** What the controller may hold resident, whatever is stored. */
export const MOST = 250 * MiB;

/** The most that the process ever held resident, in bytes, as the kernel has it. */
const peakOf = async ({ pid }: MeasuredReplica): Promise<number> => {
  const status = await readFile(`/proc/${pid()}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
};

export interface ControllerMemory {
  /** As administrator. */
  readonly api: Client;
  /** It leads, and has listed all Transactions. It ends with the test. */
  readonly started: (name: string) => Promise<MeasuredReplica>;
  /** The most that it ever held resident, in bytes, which is told to be of this. */
  readonly peakOver: (what: string, replica: MeasuredReplica) => Promise<number>;
  /** The Transaction `large` of each namespace comes to this phase. */
  readonly allReach: (namespaces: readonly string[], phase: string) => Promise<void>;
}

/** For the tests of this file. What it has measured is told after the last one. */
export const controllerMemory = (): (() => ControllerMemory) => {
  let stage: Installed | undefined;
  let running: MeasuredReplica | undefined;
  const report: string[] = [];
  const onStage = (): Installed => {
    if (stage === undefined) throw new Error("Janus is installed before the first test, and not earlier");
    return stage;
  };
  beforeAll(async () => {
    stage = await installed([], undefined, await compiledProgram());
  });
  afterEach(() => running?.end());
  afterAll(async () => {
    await stage?.end();
    console.log(["", "Memory:", ...report].join("\n  "));
  });

  const started = async (name: string): Promise<MeasuredReplica> => {
    const replica = await onStage().replica(name);
    running = replica;
    await replica.start();
    const isWatching = async () => (await readFile(replica.logFile, "utf8")).includes("watching Transactions");
    await expect.poll(isWatching, { timeout: 600_000, interval: 200 }).toBe(true);
    return replica;
  };
  const peakOver = async (what: string, replica: MeasuredReplica): Promise<number> => {
    const peak = await peakOf(replica);
    report.push(`${what}: ${(peak / MiB).toFixed(0)} MiB resident at most`);
    return peak;
  };
  const allReach = async (namespaces: readonly string[], phase: string): Promise<void> => {
    const phases = () =>
      Promise.all(
        namespaces.map(async (namespace) => {
          const object = await read(onStage().api, transactions, namespace, "large");
          return object === undefined ? "none" : phaseOf(object);
        }),
      );
    await expect.poll(phases, { timeout: 1_200_000, interval: 1000 }).toEqual(namespaces.map(() => phase));
  };
  return () => ({ api: onStage().api, started, peakOver, allReach });
};

export const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

/** Of so many bytes, another one for each number. */
export const text = (bytes: number, n: number): string => `${n} `.padEnd(bytes, "x");

export const configMapNamed = (name: string): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", name });
