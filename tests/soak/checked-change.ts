import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@janus/api";
import type { KubeObject, Resource } from "@janus/kube";
import { configMaps, secrets } from "@janus/types";
import { essence } from "../crash/world.ts";
import type { Insistent } from "./insist.ts";
import type { Random } from "./random.ts";
import { deployments, HOME, services, SHARED, TIGHT } from "./world.ts";

/** Whether a change is made: wholly, or not at all; or what is there instead. */
export type Fate = "in" | "out" | { readonly wrong: string };

/** One change of a Transaction, and how to tell whether it is in. No two Transactions set the same field. */
export interface CheckedChange {
  readonly label: string;
  readonly change: JsonObject;
  /** Brings about what it is to change. */
  readonly prepare: (admin: Insistent) => Promise<void>;
  readonly fate: (admin: Insistent) => Promise<Fate>;
  /** Somebody edits another field of its target. */
  readonly disturb?: (admin: Insistent) => Promise<void>;
}

type Data = Readonly<Record<string, string>>;

const dataOf = (object: KubeObject | undefined): Data => (object?.["data"] ?? {}) as Data;
const refOf = ({ group, version, kind }: Resource, name: string, namespace = HOME): JsonObject => ({
  apiVersion: group === "" ? version : `${group}/${version}`,
  kind,
  name,
  ...(namespace === HOME ? {} : { namespace }),
});
const labelOf = (verb: string, { kind }: Resource, name: string): string => `${verb} ${kind} ${name}`;
const wrong = (object: KubeObject | undefined, than: string): Fate => ({
  wrong: `${than}; there is ${object === undefined ? "nothing" : JSON.stringify(essence(object))}`,
});
/** Without the addresses of a Service, which another client may have got by the time that it is created again. */
const lasting = (object: KubeObject | undefined): unknown => {
  const { clusterIP: _, clusterIPs: __, ...spec } = (object?.["spec"] ?? {}) as Readonly<Record<string, unknown>>;
  return object && essence({ ...object, spec });
};

const nothing = async (): Promise<void> => {};

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** What an object of each kind holds in its first and in its second version. */
const CONTENT: readonly { readonly of: Resource; readonly version: (n: 1 | 2) => JsonObject }[] = [
  { of: configMaps, version: (n) => ({ data: { version: `${n}` } }) },
  { of: secrets, version: (n) => ({ type: "Opaque", data: { version: base64(`${n}`) } }) },
  {
    of: services,
    version: (n) => ({
      spec: { selector: { version: `${n}` }, ports: [{ port: 80, protocol: "TCP", targetPort: 80 }] },
    }),
  },
];

/** Whether all of `part` stands in `whole`, lists by position. */
const holds = (whole: unknown, part: unknown): boolean =>
  typeof part === "object" && part !== null
    ? typeof whole === "object" &&
      whole !== null &&
      Object.entries(part).every(([key, value]) => holds((whole as Record<string, unknown>)[key], value))
    : whole === part;

const SOMEBODY = "example.com/somebody";

/** An annotation of somebody's that has to be found again wherever the object is. */
const disturbance = (of: Resource, name: string) => {
  let edits = 0;
  let last: string | undefined;
  return {
    disturb: async (admin: Insistent): Promise<void> => {
      edits += 1;
      const value = `${edits}`;
      const isThere = await admin.patch(of, HOME, name, { metadata: { annotations: { [SOMEBODY]: value } } });
      if (isThere) last = value;
    },
    last: (): string | undefined => last,
    isKept: (object: KubeObject): boolean => object.metadata.annotations?.[SOMEBODY] === last,
  };
};

/** Adds a key of its own to one of a few ConfigMaps that all Transactions share. */
const share = (id: string, chance: Random): CheckedChange => {
  const name = chance.pick(SHARED);
  return {
    label: labelOf("Patch", configMaps, name),
    change: { type: "Patch", target: refOf(configMaps, name), content: { data: { [id]: "in" } } },
    prepare: nothing,
    fate: async (admin) => (dataOf(await admin.read(configMaps, HOME, name))[id] === "in" ? "in" : "out"),
  };
};

const create = (id: string, chance: Random): CheckedChange => {
  const { of, version } = chance.pick(CONTENT);
  const content = version(1);
  return {
    label: labelOf("Create", of, id),
    change: { type: "Create", target: refOf(of, id), content },
    prepare: nothing,
    fate: async (admin) => {
      const now = await admin.read(of, HOME, id);
      if (now === undefined) return "out";
      return holds(now, content) ? "in" : wrong(now, "created, but otherwise");
    },
  };
};

/** Makes version 2 of an object that is there. */
const edit =
  (type: "Patch" | "Update") =>
  (id: string, chance: Random): CheckedChange => {
    const { of, version } = chance.pick(CONTENT);
    const somebody = disturbance(of, id);
    let before: KubeObject | undefined;
    return {
      label: labelOf(type, of, id),
      change: { type, target: refOf(of, id), content: version(2) },
      prepare: async (admin) => {
        before = await admin.create(of, HOME, { metadata: { name: id }, ...version(1) });
      },
      fate: async (admin) => {
        const now = await admin.read(of, HOME, id);
        if (now === undefined) return wrong(now, "it should be there");
        if (somebody.last() !== undefined && !somebody.isKept(now))
          return wrong(now, `somebody's edit ${somebody.last()} is lost`);
        if (holds(now, version(2))) return "in";
        if (!holds(now, version(1))) return wrong(now, "neither version 1 nor 2");
        const isAsBefore = isDeepStrictEqual(before && essence(before), essence(now));
        return isAsBefore || somebody.last() !== undefined
          ? "out"
          : wrong(now, `not as before, which was ${JSON.stringify(before && essence(before))}`);
      },
      ...(type === "Patch" ? { disturb: somebody.disturb } : {}),
    };
  };

const remove = (id: string, chance: Random): CheckedChange => {
  const { of, version } = chance.pick(CONTENT);
  const somebody = disturbance(of, id);
  let before: KubeObject | undefined;
  return {
    label: labelOf("Delete", of, id),
    change: { type: "Delete", target: refOf(of, id) },
    prepare: async (admin) => {
      before = await admin.create(of, HOME, { metadata: { name: id }, ...version(1) });
    },
    fate: async (admin) => {
      const now = await admin.read(of, HOME, id);
      if (now === undefined) return "in";
      if (somebody.last() !== undefined)
        return somebody.isKept(now) && holds(now, version(1))
          ? "out"
          : wrong(now, `somebody's edit ${somebody.last()} is lost`);
      return isDeepStrictEqual(lasting(before), lasting(now))
        ? "out"
        : wrong(now, `not as before, which was ${JSON.stringify(lasting(before))}`);
    },
    disturb: somebody.disturb,
  };
};

const podOf = (image: string): JsonObject => ({ containers: [{ name: "web", image }] });

const imageIn = (object: KubeObject | undefined, image: string): boolean =>
  holds(object, { spec: { template: { spec: { containers: [{ image }] } } } });

/** A new image for a Deployment, whose own controller writes to it, too. */
const roll = (id: string): CheckedChange => {
  const labels = { app: id };
  return {
    label: labelOf("Patch", deployments, id),
    change: {
      type: "Patch",
      target: refOf(deployments, id),
      content: { spec: { template: { spec: podOf("web:2") } } },
    },
    prepare: async (admin) =>
      void (await admin.create(deployments, HOME, {
        metadata: { name: id },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: podOf("web:1") },
        },
      })),
    fate: async (admin) => {
      const now = await admin.read(deployments, HOME, id);
      if (imageIn(now, "web:2")) return "in";
      return imageIn(now, "web:1") ? "out" : wrong(now, "neither image");
    },
  };
};

/** Where one Service is allowed: a second one is refused, and only when it is really made. */
const overQuota = (id: string): CheckedChange => ({
  label: labelOf("Create", services, `${TIGHT}/${id}`),
  change: { type: "Create", target: refOf(services, id, TIGHT), content: { spec: { ports: [{ port: 80 }] } } },
  prepare: nothing,
  fate: async (admin) => ((await admin.read(services, TIGHT, id)) === undefined ? "out" : "in"),
});

/** Of something that is not there. */
const hopeless = (id: string): CheckedChange => ({
  label: labelOf("Delete", configMaps, id),
  change: { type: "Delete", target: refOf(configMaps, id) },
  prepare: nothing,
  fate: async (admin) => ((await admin.read(configMaps, HOME, id)) === undefined ? "out" : { wrong: "it is there" }),
});

const USUAL = [share, share, create, edit("Patch"), edit("Update"), remove, roll];

/** The changes of one Transaction. @param id the start of the names of all that is its own */
export const checkedChanges = (id: string, chance: Random): readonly CheckedChange[] => {
  const count = 1 + Math.floor(chance.below(chance.chance(0.1) ? 20 : 5));
  const usual = Array.from({ length: count }, (_, n) => chance.pick(USUAL)(`${id}-${n}`, chance));
  // A target may stand in a Transaction only once.
  const different = [...new Map(usual.map((checked) => [checked.label, checked])).values()];
  if (chance.chance(0.1)) return [...different, overQuota(`${id}-a`), overQuota(`${id}-b`)];
  return chance.chance(0.04) ? [...different, hopeless(`${id}-missing`)] : different;
};
