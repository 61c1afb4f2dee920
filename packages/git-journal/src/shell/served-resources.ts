// Reads again and again which resources the API server serves.
import type { Api, ApiError, KubeObject } from "@janus/kube";
import { defect, type Log, newWorkQueue } from "@janus/runtime/parts";
import { type JsonObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { discovered, type GroupAnswer, groupsOf, type ServedResource } from "../core/discovery.ts";

/** Aggregated, GA since Kubernetes 1.30: https://kubernetes.io/docs/reference/using-api/api-concepts/#aggregated-discovery */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export interface ServedNow {
  readonly served: readonly ServedResource[];
  readonly groups: ReadonlyMap<string, GroupAnswer>;
}

export interface DiscoveryOptions {
  /** The pause between two reads, in ms. */
  readonly refresh: number;
  readonly log: Log;
  readonly onRead: (now: ServedNow) => void;
  /** Told what could not be read, which is read again after a pause. */
  readonly onError: (what: string, why: string) => void;
  /** Whether an answer is older than what is known to be installed: it is read again soon. */
  readonly isBehind: (now: ServedNow) => boolean;
}

export interface Discovery {
  /** Reads again within a second. */
  readonly soon: () => void;
  readonly stop: () => Promise<void>;
}

/** The delay before a read that was asked for, in ms. */
const DEBOUNCE = 1_000;
const BACKOFF = { first: 1_000, cap: 60_000 };

const failure = (answer: E.Either<ApiError, KubeObject>): string | undefined => {
  if (E.isLeft(answer)) return messageOf(answer.left);
  return answer.right.kind === "APIGroupDiscoveryList" ? undefined : `the answer is a ${answer.right.kind}`;
};

const items = (answer: E.Either<ApiError, KubeObject>): readonly JsonObject[] =>
  E.isRight(answer) ? [answer.right as unknown as JsonObject] : [];

/** Guarantees: what was read before is known until something newer is; two reads are never under way at once. */
export const startDiscovery = (api: Api, { refresh, log, onRead, onError, isBehind }: DiscoveryOptions): Discovery => {
  let served: readonly ServedResource[] = [];
  const read = async (): Promise<"failed" | "current"> => {
    const paths = ["/api", "/apis"];
    const answers = await Promise.all(
      paths.map((path) => api.send({ verb: "raw", path, accept: AGGREGATED, purpose: "discovery" })),
    );
    const failures = answers.map(failure);
    for (const [at, why] of failures.entries()) if (why !== undefined) onError(paths[at] ?? "", why);
    if (failures.some((why) => why !== undefined)) return "failed";
    const groups = groupsOf(answers.flatMap(items));
    served = discovered(served, groups);
    const now = { served, groups };
    onRead(now);
    const broken = [...groups].filter(([, answer]) => answer === "failed");
    for (const [group] of broken) onError(`/apis/${group}`, "its own server did not answer");
    return broken.length > 0 || isBehind(now) ? "failed" : "current";
  };
  const queue = newWorkQueue({
    concurrency: 1,
    backoff: BACKOFF,
    observe: (event) => {
      if (event.type === "threw") log("error", "internal error in discovery", defect(event.error));
    },
    work: async () => ((await read()) === "failed" ? { type: "failed" } : { type: "after", ms: refresh }),
  });
  queue.add("");
  return { soon: () => queue.addAfter("", DEBOUNCE), stop: queue.drain };
};
