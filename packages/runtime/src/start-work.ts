// Starts the work of the leader for one controller: watches the objects, reconciles each, and tells of it in log, metrics and events.
import type { Api, Request } from "@janus/kube";
import { type ApiError, type KubeObject, messageOf, type ObjectMeta, type Resource } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Registry } from "prom-client";
import type { ControllerNames } from "./process/controller-names.ts";
import type { Log } from "./process/log.ts";
import { type Watchdog, withHeartbeat } from "./process/watchdog.ts";
import { type ApiRequest, sendingTo } from "./reconcile/api-request.ts";
import { namesOf } from "./reconcile/defective-step.ts";
import { reconcileKeys, type Round } from "./reconcile/reconcile-key.ts";
import { watchKind } from "./reconcile/watch-kind.ts";
import type { Work } from "./run-process.ts";
import type { RunnableController } from "./runnable-controller.ts";
import { type EventSubject, recorder } from "./telemetry/events.ts";
import { reconcileMetrics } from "./telemetry/reconcile-metrics.ts";
import { requestFields, withRequestLog } from "./telemetry/request-log.ts";
import type { SecondaryWatch } from "./watch/secondary-watch.ts";

/** A controller, and the objects that it is for. */
export interface Reconciled<Memory, Effect, Happened> {
  /** The name of the controller, such as `label-keeper`. */
  readonly name: string;
  /** The kind whose objects are reconciled. */
  readonly resource: Resource;
  /**
   * Only the objects with these labels, as for `kubectl get -l`. One that no longer has them counts as deleted. Default: all.
   */
  readonly labelSelector?: string;
  /** Objects of other kinds, on whose changes objects are reconciled. Default: none. */
  readonly watches?: readonly SecondaryWatch[];
  readonly controller: RunnableController<Memory, Effect, Happened>;
}

/** The surroundings of the work. */
export interface Workplace {
  readonly api: Api;
  readonly log: Log;
  readonly watchdog: Watchdog;
  /** The reporting instance of events. Default: the name of the controller. */
  readonly pod?: string;
}

export const namesFor = ({
  name,
  resource,
}: Pick<Reconciled<never, never, never>, "name" | "resource">): ControllerNames => ({
  product: name,
  prefix: name.replaceAll(/[^a-z0-9]/gu, "_"),
  reportingComponent: name,
  objects: `${resource.kind}s`,
});

const isApiRequest = (effect: unknown): effect is ApiRequest => {
  const { purpose, request } = Object(effect) as { readonly purpose?: unknown; readonly request?: unknown };
  return typeof purpose === "string" && typeof request === "object" && request !== null && "verb" in request;
};

/** What an effect was, as fields. */
const effectFields = (effect: unknown): Readonly<Record<string, unknown>> =>
  isApiRequest(effect) ? { purpose: effect.purpose, ...requestFields(effect.request) } : { effect: namesOf([effect]) };

/** An object that no longer has the labels. */
const notSelected: ApiError = {
  type: "refused",
  code: 404,
  reason: "NotFound",
  message: "it does not have the labels of the selector",
  causes: [],
  notFound: "object",
};

const subjectOf = ({ namespace, name = "", uid = "", resourceVersion = "" }: ObjectMeta): EventSubject => ({
  metadata: { ...(namespace === undefined ? {} : { namespace }), name, uid, resourceVersion },
});

/** Starts the work of a leader: watches the objects, and reconciles each. */
export const startWork = <Memory, Effect, Happened>(
  { name, resource, labelSelector, watches = [], controller }: Reconciled<Memory, Effect, Happened>,
  { api, log, watchdog, pod = name }: Workplace,
  {
    watchNamespaces,
    concurrency,
  }: { readonly watchNamespaces: readonly string[] | undefined; readonly concurrency: number },
): Work => {
  const registry = new Registry();
  const { kind } = resource;
  const names = namesFor({ name, resource });
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  const events = recorder(
    { ...names, prefix: name },
    { apiVersion, kind, frequent: [], isFinal: () => false },
    () => api,
    pod,
  );
  const inRound = ({ log: lines, heartbeat }: Round): Api => withRequestLog(withHeartbeat(api, heartbeat), lines);
  const loop = reconcileKeys<Memory, Effect, Happened>(controller, {
    kind,
    read: (key, round) => {
      if (labelSelector !== undefined && !watched.store.has(key)) return Promise.resolve(E.left(notSelected));
      const [first = "", second] = key.split("/");
      const place: Pick<Extract<Request, { verb: "get" }>, "name" | "namespace"> = second === undefined
        ? { name: first }
        : { namespace: first, name: second };
      return inRound(round).send({ verb: "get", resource, ...place, purpose: "read" });
    },
    perform: (round, { memory }, effect) => controller.perform(effect, sendingTo(inRound(round)), memory, round),
    wake: (key) => watched.wake(key),
    mayExist: (key) => watched.store.has(key),
    mayBeDeleted: ({ key, uid }) => watched.store.get(key)?.metadata.uid !== uid,
    onObserved: ({ log: lines }, before, { memory }, happened) => {
      for (const event of controller.eventsOf?.(before, happened, memory) ?? [])
        events.recordEvent(subjectOf(controller.metadataOf(memory)), event, lines);
    },
    onFailures: (round, _, failures) => {
      const [{ effect, error }] = failures;
      round.log("warn", `request failed, retrying the ${kind} after a pause`, {
        ...effectFields(effect),
        error: messageOf(error),
        ...(failures.length > 1 ? { others: failures.length - 1 } : {}),
      });
      return Promise.resolve(Number.POSITIVE_INFINITY);
    },
  });
  const watched = watchKind(api, {
    resource,
    ...(watchNamespaces === undefined ? {} : { namespaces: watchNamespaces }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    watches,
    names,
    registry,
    concurrency,
    log,
    watchdog,
    reconcile: reconcileMetrics(registry, names)(loop.reconcile),
    lastKnown: ({ metadata: { uid = "" } }: KubeObject) => {
      const one = loop.tracked.of(uid);
      return one === undefined ? undefined : controller.metadataOf(one.memory);
    },
  });
  return {
    registry,
    isSynced: watched.isSynced,
    synced: watched.synced,
    stop: async () => {
      loop.stop();
      await watched.stop();
      await events.flush();
    },
  };
};
