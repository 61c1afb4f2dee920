// Records Kanister's events, each once: its name comes from the step, so that a restart does not record it again.
import type { Api } from "@janus/kube";
import { events } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import { GROUP, VERSION } from "../api/names.ts";
import { blueprintFact, type Memory, shortHash, type StepEvent } from "../core/index.ts";

const COMPONENT = "Kanister Controller";
/** The API server accepts at most 1024 characters. */
const MOST = 1024;

interface Subject {
  readonly kind: "ActionSet" | "Blueprint";
  readonly name: string;
  readonly uid?: string;
}

/** Records events, without waiting or trying again: an event is a sign of life, and nothing depends on it. */
export const kanisterEvents =
  (api: Api) =>
  ({ object, facts }: Memory, all: readonly StepEvent[], at: Date): void => {
    const { namespace = "", name = "", uid = "" } = object.metadata;
    const record = (event: StepEvent, subject: Subject): void => {
      const time = `${at.toISOString().slice(0, 19)}Z`;
      void api.send({
        verb: "create",
        resource: events,
        namespace,
        purpose: "event",
        body: {
          apiVersion: "v1",
          kind: "Event",
          metadata: { namespace, name: `${subject.name}.${shortHash(`${uid}/${subject.kind}/${event.step}`)}` },
          involvedObject: { apiVersion: `${GROUP}/${VERSION}`, namespace, ...subject },
          type: event.type,
          reason: event.reason,
          message: event.message.slice(0, MOST),
          source: { component: COMPONENT },
          reportingComponent: COMPONENT,
          reportingInstance: "",
          firstTimestamp: time,
          lastTimestamp: time,
          count: 1,
        },
      });
    };
    for (const event of all) {
      record(event, { kind: "ActionSet", name, uid });
      if (event.blueprint === undefined) continue;
      const known = facts.get(blueprintFact(event.blueprint));
      const of = known !== undefined && E.isRight(known) ? known.right.metadata.uid : undefined;
      record(event, { kind: "Blueprint", name: event.blueprint, ...(of === undefined ? {} : { uid: of }) });
    }
  };
