// Runs a controller as a process, with the flags, the leader election, the metrics and the loop of the runtime.
import type { ObjectMeta, Request } from "@janus/kube";
import { messageOf, type Instant, type KubeObject, type Resource } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Registry } from "prom-client";
import { parseFlags } from "./flags.ts";
import { helpText } from "./flags-help.ts";
import type { HttpLimits } from "./http/server.ts";
import type { ControllerNames } from "./process/controller-names.ts";
import { withHeartbeat } from "./process/watchdog.ts";
import { type Answered, type ApiRequest, observeObject, type Send, sendingTo } from "./reconcile/api-request.ts";
import type { Controller, Step } from "./reconcile/controller.ts";
import { reconcileKeys } from "./reconcile/reconcile-key.ts";
import { watchKind } from "./reconcile/watch-kind.ts";
import { runProcess, type Work, type WorkContext } from "./run-process.ts";

/** A controller with what carries out its effects. */
export interface RunnableController<Memory, Effect, Happened> extends Controller<Memory, Effect, Happened> {
  /** The metadata of the object as it is remembered. */
  readonly metadataOf: (memory: Memory) => ObjectMeta;
  /** Carries out an effect, and tells what happened. Must not reject. */
  readonly perform: (effect: Effect, send: Send, memory: Memory) => Promise<Happened>;
}

/** A controller that remembers nothing but the object, and sends requests. */
export const objectController = (
  decide: (object: KubeObject, now: Instant) => Step<ApiRequest>,
): RunnableController<KubeObject, ApiRequest, Answered<ApiRequest>> => ({
  remember: (object) => object,
  refresh: (_, object) => object,
  decide: (object, { now }) => decide(object, now),
  observe: observeObject,
  metadataOf: ({ metadata }) => metadata,
  perform: (effect, send) => send(effect),
});

export interface ControllerOptions<Memory, Effect, Happened> {
  /** The name of the command and of the Lease, such as `label-keeper`. */
  readonly name: string;
  /** The purpose of it, in a sentence, for `--help`. */
  readonly about: string;
  readonly version: string;
  /** The kind whose objects are reconciled. */
  readonly resource: Resource;
  readonly controller: RunnableController<Memory, Effect, Happened>;
  /** The namespace where it runs, and where its Lease is. Default: $POD_NAMESPACE, else `default`. */
  readonly namespace?: string;
}

const LIMITS = {
  http: { connections: 256, headerBytes: 8192, arrival: 3000, check: 500 } satisfies HttpLimits,
  connections: { requests: 13, renewals: 1, election: 4, aside: 4 },
  stuckAfter: 60_000,
  asideDeadline: 2000,
};

const LEADER_ELECTION = { leaseDuration: 30, renewDeadline: 20, retryPeriod: 5 };
const WRITE_TIMEOUT = 5;

const namesOf = ({ name, resource }: { readonly name: string; readonly resource: Resource }): ControllerNames => ({
  product: name,
  prefix: name.replaceAll(/[^a-z0-9]/gu, "_"),
  reportingComponent: name,
  objects: `${resource.kind}s`,
});

/** Starts the work of a leader: watches the objects, and reconciles each. */
export const startWork = <Memory, Effect, Happened>(
  { name, resource, controller }: Pick<ControllerOptions<Memory, Effect, Happened>, "name" | "resource" | "controller">,
  { api, log, watchdog }: Pick<WorkContext, "api" | "log" | "watchdog">,
  { watchNamespace, concurrency }: { readonly watchNamespace: string | undefined; readonly concurrency: number },
): Work => {
  const registry = new Registry();
  const { kind } = resource;
  const loop = reconcileKeys<Memory, Effect, Happened>(controller, {
    kind,
    read: (key) => {
      const [first = "", second] = key.split("/");
      const place: Pick<Extract<Request, { verb: "get" }>, "name" | "namespace"> = second === undefined
        ? { name: first }
        : { namespace: first, name: second };
      return api.send({ verb: "get", resource, ...place, purpose: "read" });
    },
    perform: ({ heartbeat }, { memory }, effect) =>
      controller.perform(effect, sendingTo(withHeartbeat(api, heartbeat)), memory),
    wake: (key) => watched.wake(key),
    mayExist: (key) => watched.store.has(key),
    mayBeDeleted: ({ key, uid }) => watched.store.get(key)?.metadata.uid !== uid,
    onFailures: (round, _, [{ error }]) => {
      round.log("warn", `request failed, retrying the ${kind} after a pause`, { error: messageOf(error) });
      return Promise.resolve(Number.POSITIVE_INFINITY);
    },
    onDefect: (round) => round.log("error", `internal error in ${name}: the ${kind} is retried after a pause`),
  });
  const watched = watchKind(api, {
    resource,
    ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }),
    names: namesOf({ name, resource }),
    registry,
    concurrency,
    log,
    watchdog,
    reconcile: loop.reconcile,
    lastKnown: ({ metadata: { uid = "" } }) => {
      const one = loop.tracked.of(uid);
      return one === undefined ? undefined : controller.metadataOf(one.memory);
    },
  });
  return {
    registry,
    isSynced: watched.isSynced,
    synced: watched.synced,
    stop: () => {
      loop.stop();
      return watched.stop();
    },
  };
};

/**
 * Runs a controller until it is told to stop, or its term is over; then the process exits. Its flags are those of every Kubernetes
 * controller (`--help` shows them).
 *
 * Guarantees: see {@link runProcess} and {@link Controller}.
 */
export const runController = <Memory, Effect, Happened>(
  options: ControllerOptions<Memory, Effect, Happened>,
): Promise<void> => {
  const { name, about, version, resource, namespace = "default" } = options;
  const names = namesOf(options);
  const defaults = {
    namespace,
    writeTimeout: WRITE_TIMEOUT,
    leaseName: `${name}-leader`,
    leaderElection: LEADER_ELECTION,
  };
  const leaderLabel = `${name}/leader`;
  const help = helpText(defaults, { command: name, about, objects: names.objects, leaderLabel });
  const noFlags = { options: {}, read: () => E.right({}) };
  return runProcess(parseFlags(process.argv.slice(2), process.env, noFlags, { ...defaults, help }), {
    names,
    version,
    leaderLabel,
    limits: LIMITS,
    instead: `change a ${resource.kind} with the API server`,
    start: (context, flags) => startWork(options, context, flags),
  });
};
