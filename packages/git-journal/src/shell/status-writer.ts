// Writes the status of objects of the four kinds, and events about them.
import type { Api, KubeObject } from "@janus/kube";
import { type ControllerNames, defect, elapsed, type Log, newWorkQueue, recorder, wall } from "@janus/runtime/parts";
import { equal, messageOf, retryAfterOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { API_VERSION } from "../api/names.ts";
import { type Kind, KINDS, objectId } from "../core/configured.ts";
import type { Told } from "../core/readiness.ts";
import { statusChange, type StatusEvent } from "../core/status.ts";
import { RESOURCES } from "./watched-configuration.ts";

export interface StatusOptions {
  readonly api: Api;
  readonly log: Log;
  readonly names: ControllerNames;
  /** The reporting instance of events. */
  readonly pod: string;
  /** Returns an object as it was last seen. */
  readonly object: (kind: Kind, key: string) => KubeObject | undefined;
}

export interface StatusWriter {
  /** Takes what became of all objects, by their ids. */
  readonly tell: (all: ReadonlyMap<string, Told>) => void;
  /** Called when an object has changed: somebody else may have written its status. */
  readonly look: (id: string) => void;
  readonly record: (kind: Kind, key: string, event: StatusEvent) => void;
  readonly stop: () => Promise<void>;
}

/** The least time between two writes of an object, in ms. */
const INTERVAL = 1_000;
const CONCURRENCY = 4;
const BACKOFF = { first: 1_000, cap: 30_000 };

const placeOf = (id: string): { readonly kind: Kind; readonly key: string } => {
  const at = id.indexOf(" ");
  return { kind: id.slice(0, at) as Kind, key: id.slice(at + 1) };
};

export const statusWriter = ({ api, log, names, pod, object }: StatusOptions): StatusWriter => {
  let told: ReadonlyMap<string, Told> = new Map();
  /** The objects as they were written, while the watch still shows them as they were before. */
  const written = new Map<string, { readonly over: string | undefined; readonly object: KubeObject }>();
  /** The time of the last write of each object. */
  const writtenAt = new Map<string, number>();
  const recorders = new Map(
    KINDS.map((kind) => [
      kind,
      recorder(
        { ...names, prefix: names.reportingComponent },
        { apiVersion: API_VERSION, kind, frequent: [], isFinal: () => false },
        () => api,
        pod,
      ),
    ]),
  );

  const record = (kind: Kind, key: string, event: StatusEvent): void => {
    const { namespace, name = "", uid = "", resourceVersion = "" } = object(kind, key)?.metadata ?? {};
    if (uid === "") return;
    const metadata = { ...(namespace === undefined ? {} : { namespace }), name, uid, resourceVersion };
    recorders.get(kind)?.recordEvent({ metadata }, event, log);
  };

  const latest = (kind: Kind, key: string): KubeObject | undefined => {
    const seen = object(kind, key);
    const own = written.get(objectId(kind, key));
    return seen !== undefined &&
      own?.over === seen.metadata.resourceVersion &&
      own?.object.metadata.uid === seen.metadata.uid
      ? own?.object
      : seen;
  };

  const queue = newWorkQueue({
    concurrency: CONCURRENCY,
    backoff: BACKOFF,
    observe: (event) => {
      if (event.type === "threw") log("error", "internal error while a status is written", defect(event.error));
    },
    work: async (id) => {
      const { kind, key } = placeOf(id);
      const now = latest(kind, key);
      const one = told.get(id);
      const change = now && one && statusChange(now, one, new Date(wall()).toISOString().replace(/\.\d+Z$/u, "Z"));
      if (now === undefined || change === undefined) {
        written.delete(id);
        return { type: "done" };
      }
      const pause = (writtenAt.get(id) ?? Number.NEGATIVE_INFINITY) + INTERVAL - elapsed();
      if (pause > 0) return { type: "after", ms: pause };
      writtenAt.set(id, elapsed());
      const { namespace, name = "" } = now.metadata;
      const answer = await api.send({
        verb: "mergePatch",
        resource: RESOURCES[kind],
        ...(namespace === undefined ? {} : { namespace }),
        name,
        subresource: "status",
        body: change.patch,
        purpose: "status",
      });
      if (E.isRight(answer)) {
        written.set(id, { over: object(kind, key)?.metadata.resourceVersion, object: answer.right });
        for (const event of change.events) record(kind, key, event);
        return { type: "done" };
      }
      const error = answer.left;
      // The watch will tell: it is gone, or another object has its name.
      if (error.type === "refused" && [404, 409].includes(error.code)) return { type: "done" };
      log("warn", "a status was not written; trying again", { object: id, error: messageOf(error) });
      return { type: "failed", atLeast: retryAfterOf(error) };
    },
  });
  const look = (id: string): void => queue.add(id);

  return {
    look,
    record,
    tell: (all) => {
      const before = told;
      told = all;
      for (const [id, one] of all) if (!equal(before.get(id), one)) look(id);
      for (const id of before.keys())
        if (!all.has(id)) {
          written.delete(id);
          writtenAt.delete(id);
        }
    },
    stop: async () => {
      await queue.drain();
      await Promise.all([...recorders.values()].map(({ flush }) => flush()));
    },
  };
};
