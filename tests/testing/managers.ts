// Makes the same writes on the real API server and on the model of it.
import type { Call } from "@janus/controller";
import type { KubeObject } from "@janus/kube";
import { isObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type ApiServer, respond } from "../../packages/testing/src/api-server/respond.ts";
import { kindsOf } from "../../packages/testing/src/api-server/served-kinds.ts";
import type { World } from "../../packages/testing/src/api-server/world.ts";
import { connection, type Manifest, resourceOf } from "../fixtures/administrator.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { customKinds } from "../restore/kinds.ts";

const api = connection(controlPlane.kubeconfig);

/** A write of a whole object by PUT, or of some of its fields by a server-side apply. */
export interface Write {
  readonly by: string;
  readonly how: "edits" | "applies";
  readonly fields: object;
}

/** What became of a write: what is there and who manages it, or that nothing was written. */
export type Outcome = { readonly object: unknown } | "unchanged" | "rejected";

const withoutTimes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (!isObject(value)) return value;
  const { time: _, ...rest } = value;
  return Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, withoutTimes(inner)]));
};

/** The order of managers is by time first, and two writes may be of the same second. */
const essence = ({ metadata, ...object }: KubeObject): unknown => {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, managedFields = [], ...others } = metadata;
  const managers = managedFields.map((entry) => [`${entry.manager} ${entry.operation}`, withoutTimes(entry)] as const);
  return { ...object, metadata: { ...others, managedFields: Object.fromEntries(managers) } };
};

const outcomeOf = (before: KubeObject | undefined, after: KubeObject): Outcome =>
  before?.metadata.resourceVersion === after.metadata.resourceVersion ? "unchanged" : { object: essence(after) };

/** One after the other, what became of each. What the real API server rejects is not written to the model, either. */
export const bothOutcomes = async (
  manifest: Manifest,
  writes: readonly Write[],
): Promise<{ readonly real: readonly Outcome[]; readonly model: readonly Outcome[] }> => {
  const { apiVersion, kind, metadata } = manifest;
  const { name, ...within } = { resource: await resourceOf(manifest), ...metadata };
  const place = { ...within, name };
  const server: ApiServer = {
    assumed: customKinds.flatMap((definition) => kindsOf(definition as Manifest)),
    namespaces: new Set([metadata.namespace ?? ""]),
  };
  const [real, model]: [Outcome[], Outcome[]] = [[], []];
  let world: World = { objects: new Map(), revision: 0 };
  let [live, modelled]: (KubeObject | undefined)[] = [];
  const modelOf = (call: Call): KubeObject => {
    const { answer, world: next } = respond(server, world, { call, dryRun: false, now: Date.now() });
    if (E.isLeft(answer)) throw new Error(messageOf(answer.left));
    world = next;
    return answer.right;
  };
  for (const { by, how, fields } of writes) {
    const body = { ...fields, apiVersion, kind, metadata: { ...(fields as Partial<Manifest>).metadata, ...metadata } };
    const verb = live === undefined ? "create" : how === "edits" ? "update" : "apply";
    const sent = verb === "apply" ? { force: true } : {};
    const answer = await api.send({
      verb,
      ...(verb === "create" ? within : place),
      body,
      fieldManager: by,
      ...sent,
    } as Parameters<typeof api.send>[0]);
    if (E.isLeft(answer)) {
      if (live === undefined) throw new Error(messageOf(answer.left));
      [real, model].forEach((outcomes) => outcomes.push("rejected"));
      continue;
    }
    const made = modelOf({ verb, place, body, manager: by });
    real.push(outcomeOf(live, answer.right));
    model.push(outcomeOf(modelled, made));
    [live, modelled] = [answer.right, made];
  }
  return { real, model };
};
