// Writes to a Thing as the API server of packages/testing makes them; the Go type of a Thing leaves out `false`.
import * as server from "../../../packages/testing/src/api-server/field-managers.ts";
import { deduced, type FieldType, metadataType } from "../../../packages/testing/src/api-server/field-type.ts";
import { versioned } from "../../../packages/testing/src/api-server/world.ts";
import { changedObject } from "../../../packages/testing/src/api-server/written-object.ts";
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { plain } from "./thing.ts";

const struct = (isAlways: boolean, fields: Readonly<Record<string, FieldType>>): FieldType => ({
  is: "struct",
  isAlways,
  omitsEmpty: true,
  field: (name) => fields[name] ?? deduced,
});
const map: FieldType = { is: "map", of: deduced };
const containers: FieldType = { is: "list", keys: [{ name: "name" }], of: struct(false, {}) };
const spec = struct(true, { containers, limits: map, probe: struct(false, {}) });
const kind = { resource: plain.resource, type: struct(true, { metadata: metadataType, data: map, spec }) };
/** Shared by all files of a worker; times are compared as text. */
let clock = 0;
const author = (manager: string): server.Author => ({
  manager,
  apiVersion: "v1",
  time: `t${`${(clock += 1)}`.padStart(9, "0")}`,
});

const withoutFalse = <A extends object>(object: A): A => {
  const { spec, ...others } = object as JsonObject;
  const kept = Object.entries(asObject(spec)).filter(([, value]) => value !== false);
  return { ...others, ...(kept.length === 0 ? {} : { spec: Object.fromEntries(kept) }) } as A;
};

const stored = (live: KubeObject, { content, managedFields }: server.Written): KubeObject => {
  const world = { objects: new Map(), revision: Number(live.metadata.resourceVersion) };
  return versioned(world, changedObject(live, { content: withoutFalse(content), managedFields }, kind));
};

export const post = (object: KubeObject, manager: string): KubeObject =>
  stored(object, server.written(undefined, withoutFalse(object), kind.type, author(manager)));
export const put = (live: KubeObject, body: object, manager: string): KubeObject =>
  stored(live, server.written(live, withoutFalse(body), kind.type, author(manager)));

/** Server-side apply, forced. */
export const apply = (live: KubeObject, body: object, manager: string): KubeObject =>
  stored(live, server.applied(live, body, kind.type, author(manager)));
