import type { Replica } from "../fixtures/replica.ts";
import { samplesOf, total } from "../fixtures/samples.ts";

/** What a controller uses, by its own metrics. */
export interface Use {
  /** Resident memory, in bytes. */
  readonly memory: number;
  /** Requests to the API server since it began, watches and renewals of Leases included. */
  readonly requests: number;
  /** Of these, those that the API server was too busy for. */
  readonly tooMany: number;
}

export const useOf = async ({ name, metrics }: Replica): Promise<Use> => {
  const text = await metrics();
  if (text === undefined) throw new Error(`${name} does not tell its metrics`);
  const samples = samplesOf(text);
  return {
    memory: total(samples, "process_resident_memory_bytes"),
    requests: total(samples, "janus_api_requests_total"),
    tooMany: total(samples, "janus_api_requests_total", { code: "429" }),
  };
};

export interface Watched {
  /** Ends it; the most memory that it was seen to use, in bytes. */
  readonly end: () => number;
}

/** Looks at the memory of a controller once a second. */
export const watchMemory = (replica: Replica): Watched => {
  let most = 0;
  const look = async (): Promise<void> => {
    const use = await useOf(replica).catch(() => undefined);
    most = Math.max(most, use?.memory ?? 0);
  };
  const timer = setInterval(() => void look(), 1000);
  return {
    end: () => {
      clearInterval(timer);
      return most;
    },
  };
};
