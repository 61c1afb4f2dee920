// Crashes of any controller: before and after each of its requests, and each lost response; another process takes over.
import type { Api } from "@janus/kube";
import { everyFault, show } from "./crash-schedule.ts";
import { type Asked, crashingProcess, type Fault, meets } from "./crashing-process.ts";

/** A controller, and what it is given to do. */
export interface Subject<World> {
  /** Starts it, for the objects of this namespace. */
  readonly start: (api: Api, namespace: string) => { readonly stop: () => Promise<void> };
  /** Creates what it is to work on in a namespace of its own. */
  readonly prepare: () => Promise<string>;
  /** The objects as they are when it has nothing left to do; undefined: it has. */
  readonly ended: (namespace: string) => Promise<World | undefined>;
}

/** How long it may take to end, in ms: far longer than it takes. */
const PATIENCE = 60_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One process, until it has ended its work, or has crashed. */
const live = async <World>(
  client: Api,
  { start, ended }: Subject<World>,
  namespace: string,
  fault: Fault | undefined,
): Promise<{ readonly world: World | "crashed"; readonly trace: readonly Asked[] }> => {
  const { hook, crashed, trace, discard } = crashingProcess(meets(fault));
  const work = start({ ...client, send: (request) => hook(request, client.send) }, namespace);
  let world: World | "crashed" | undefined;
  void crashed.then(() => (world = "crashed"));
  try {
    for (const end = Date.now() + PATIENCE; world === undefined; await pause(50)) {
      if (Date.now() > end) throw new Error(`it has not ended its work after ${PATIENCE / 1000} s`);
      const seen = await ended(namespace);
      world ??= seen;
    }
    return { world, trace };
  } finally {
    discard();
    await work.stop();
  }
};

/** The runs whose end differs from that of one without a crash, and how many there were. */
export interface CrashOutcome {
  readonly wrong: readonly string[];
  readonly runs: number;
}

/**
 * Runs it once without a crash, and then once for each crash and each lost response, in a namespace of its own each time.
 *
 * @returns what ended in another way; nothing, if it survives everything
 */
export const crashEverywhere = async <World>(client: Api, subject: Subject<World>): Promise<CrashOutcome> => {
  const whole = await live(client, subject, await subject.prepare(), undefined);
  const expected = JSON.stringify(whole.world);
  const wrong: string[] = [];
  const faults = everyFault(whole.trace);
  for (const fault of faults) {
    const namespace = await subject.prepare();
    const first = await live(client, subject, namespace, fault);
    const { world } = first.world === "crashed" ? await live(client, subject, namespace, undefined) : first;
    if (JSON.stringify(world) !== expected) wrong.push(`${show([fault])}: ${JSON.stringify(world)}`);
  }
  return { wrong, runs: faults.length };
};
