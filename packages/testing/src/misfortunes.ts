// Makes requests of a simulation fail, or edits objects in between, as the options say.
import type { ApiCall, ApiError, ObjectRef } from "@janus/controller/core";
import { type Instant, toTimestamp, type Json, type KubeObject } from "@janus/types";
import { written } from "./api-server/field-managers.ts";
import { mergePatched, refused } from "./api-server/respond.ts";
import type { ServedKind } from "./api-server/served-kinds.ts";
import { changedObject } from "./api-server/written-object.ts";
import { objectAt, placeKey, stored, versioned, type World } from "./api-server/world.ts";
import type { Edit, Refusal } from "./options.ts";

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** The error with which the API server refuses this change when it is made. */
export const refusalOf = (failAt: number | Refusal | undefined): ((effect: ApiCall) => ApiError | undefined) => {
  if (failAt === undefined) return () => undefined;
  const {
    change,
    code = 403,
    message = `changes[${change}] is refused by the simulation`,
  } = typeof failAt === "number" ? { change: failAt } : failAt;
  return ({ purpose, item }) =>
    purpose === "change" && item === change ? refused(code, REASONS[code] ?? "", message) : undefined;
};

/** An edit, and where its target is. */
export interface PlacedEdit {
  readonly edit: Edit;
  readonly place: ObjectRef;
  readonly kind: ServedKind;
}

const edited = (world: World, { edit, place, kind }: PlacedEdit, now: Instant): World => {
  const key = placeKey(place);
  const live = objectAt(world, place);
  if (live === undefined) throw new TypeError(`edits: ${place.resource.kind} ${place.name} is not there by then`);
  if (edit.patch === null) return stored(world, key, undefined);
  const body = mergePatched(live as unknown as Json, edit.patch as Json) as unknown as KubeObject;
  const author = {
    manager: edit.manager ?? "another-client",
    apiVersion: live.apiVersion,
    time: toTimestamp(now),
  };
  const sent = { ...body, metadata: { ...body.metadata, managedFields: live.metadata.managedFields ?? [] } };
  return stored(world, key, versioned(world, changedObject(live, written(live, sent, kind.type, author), kind)));
};

/** Whether this is the request before which the edit is made. */
const isDue = ({ edit }: PlacedEdit, { purpose, item }: ApiCall): boolean =>
  edit.before === "rollback" ? purpose === "restore" : purpose === "change" && item === edit.before;

/** Makes each edit once, just before its request. */
export const editsOf = (edits: readonly PlacedEdit[], now: Instant): ((world: World, effect: ApiCall) => World) => {
  const left = new Set(edits);
  return (world, effect) => {
    const due = [...left].filter((edit) => isDue(edit, effect));
    for (const edit of due) left.delete(edit);
    return due.reduce((world, edit) => edited(world, edit, now), world);
  };
};
