// Records events on the leader's Lease.
import { leases } from "@janus/types";
import type { Api } from "@janus/kube";
import type { LeasePlace } from "../leader-election/leader-lease.ts";
import { wall } from "../process/clock.ts";
import type { ControllerNames } from "../process/controller-names.ts";
import type { Log } from "../process/log.ts";
import { events } from "../telemetry/events.ts";
import * as E from "fp-ts/lib/Either.js";

export type LeaderEventReason = "LeaderElected" | "FenceUp" | "FenceDown";

/**
 * Events on the leader's Lease: `kubectl describe lease` shows the leaders, and since when each has led.
 *
 * Guarantees: never delays or fails a request; an event that cannot be written is dropped.
 */
export const leaderEvents =
  (
    api: Api,
    { prefix, reportingComponent }: ControllerNames,
    { namespace, name }: LeasePlace,
    identity: string,
    log: Log,
  ) =>
  async (reason: LeaderEventReason, message: string): Promise<void> => {
    const lease = await api.send({ verb: "get", resource: leases, namespace, name, purpose: "event" });
    const { uid = "" } = E.isRight(lease) ? lease.right.metadata : {};
    const time = new Date(wall()).toISOString();
    const written = await api.send({
      verb: "create",
      purpose: "event",
      resource: events,
      namespace,
      body: {
        apiVersion: "v1",
        kind: "Event",
        metadata: { namespace, generateName: `${name.slice(0, 200)}.` },
        involvedObject: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", namespace, name, uid },
        type: reason === "FenceDown" ? "Warning" : "Normal",
        reason,
        message,
        count: 1,
        firstTimestamp: time,
        lastTimestamp: time,
        source: { component: prefix },
        reportingComponent,
        reportingInstance: identity.slice(0, 128),
      },
    });
    if (E.isLeft(written)) log("debug", "an event was not written", { lease: `${namespace}/${name}`, reason });
  };
