import type { Replica } from "../fixtures/replica.ts";
import { samplesOf, total } from "../fixtures/samples.ts";

/** What is measured of the controllers all the while. */
export interface Gauge {
  /** Requests to the API server, of all controllers and their former lives. */
  readonly requests: () => number;
  /** The most memory that one was seen to use, in bytes. */
  readonly memory: () => number;
  /** The highest term that was seen. */
  readonly term: () => number;
  readonly stop: () => void;
}

const EVERY = 1000;

export const gauge = (replicas: readonly Replica[], violated: (what: string) => void): Gauge => {
  const seen = new Map<string, { readonly pid: number | undefined; readonly requests: number }>();
  let requests = 0;
  let memory = 0;
  let term = 0;

  const measure = async ({ name, pid, metrics }: Replica): Promise<void> => {
    const process = pid();
    const text = await metrics();
    if (text === undefined || pid() !== process) return;
    const samples = samplesOf(text);
    const now = total(samples, "janus_api_requests_total");
    const before = seen.get(name);
    requests += before === undefined || before.pid !== process ? now : now - before.requests;
    seen.set(name, { pid: process, requests: now });
    memory = Math.max(memory, total(samples, "process_resident_memory_bytes"));
  };

  /** One that leads in the same term before and after another one was asked has led meanwhile, too. */
  const count = async (): Promise<void> => {
    for (const one of replicas) {
      const before = await one.status();
      const others = await Promise.all(replicas.filter((other) => other !== one).map(({ status }) => status()));
      const after = await one.status();
      term = Math.max(term, after?.term ?? 0);
      const leads = before?.leader === true && after?.leader === true && before.term === after.term;
      if (leads && before.identity === after.identity && others.some((other) => other?.leader === true))
        violated(`two controllers lead at the same time: ${JSON.stringify([after, ...others])}`);
    }
  };

  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void Promise.all([...replicas.map(measure), count()]).finally(() => (isBusy = false));
  }, EVERY);
  return { requests: () => requests, memory: () => memory, term: () => term, stop: () => clearInterval(timer) };
};
