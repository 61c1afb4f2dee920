// What the API server of packages/testing makes of writes to a Thing, whose Go type leaves out `false`.
import { nodeAt, type Path } from "../../../packages/controller/src/core/merge/field-set.ts";
import {
  type Author,
  applied,
  type Written,
  written,
} from "../../../packages/testing/src/api-server/field-managers.ts";
import { customType } from "../../../packages/testing/src/api-server/field-type.ts";
import { changedObject } from "../../../packages/testing/src/api-server/written-object.ts";
import { versioned } from "../../../packages/testing/src/api-server/world.ts";
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { plain } from "./thing.ts";

const map = { additionalProperties: {} };
const containers = {
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: { properties: {} },
};
const type = customType({
  properties: { data: map, spec: { properties: { containers, limits: map, probe: { properties: {} } } } },
});

let clock = 0;
const author = (manager: string): Author => ({ manager, apiVersion: "v1", time: `t${(clock += 1)}` });

const withoutFalse = <A extends object>(object: A): A => {
  const { spec, ...others } = object as JsonObject;
  const kept = Object.entries(asObject(spec)).filter(([, value]) => value !== false);
  return { ...others, ...(kept.length === 0 ? {} : { spec: Object.fromEntries(kept) }) } as A;
};

const stored = (live: KubeObject, { content, managedFields }: Written): KubeObject =>
  versioned(
    { objects: new Map(), revision: Number(live.metadata.resourceVersion) },
    changedObject(live, { content, managedFields }, { resource: plain.resource, type }),
  );

export const post = (object: KubeObject, manager: string): KubeObject =>
  stored(object, written(undefined, withoutFalse(object), type, author(manager)));

export const put = (live: KubeObject, body: object, manager: string): KubeObject =>
  stored(live, written(live, withoutFalse(body), type, author(manager)));

/** Server-side apply, forced. */
export const apply = (live: KubeObject, body: object, manager: string): KubeObject => {
  const { content, managedFields } = applied(live, body, type, author(manager));
  return stored(live, { content: withoutFalse(content), managedFields });
};

/** Who owns this field. */
export const ownersOf = (object: KubeObject, path: Path): readonly string[] =>
  (object.metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => nodeAt(fieldsV1 ?? {}, path) !== undefined)
    .map(({ manager, operation }) => JSON.stringify([manager, operation]))
    .toSorted();
