import type { JsonObject } from "@janus/api";
import type { Api, KubeObject } from "@janus/kube";
import { configMaps } from "@janus/types";
import { submit } from "./crowd.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { allAtOnce, CONNECTIONS, create, openNamespace, read } from "./world.ts";

/** Many Transactions over a few namespaces: two changes of targets of their own, and every tenth one of a target that ten share. */
export interface Burst {
  readonly count: number;
  /** What has to be there before. */
  readonly prepare: () => Promise<void>;
  /** Creates them all at once. */
  readonly submit: () => Promise<void>;
  /** What is not as it must be when all are Committed. */
  readonly wrong: () => Promise<readonly string[]>;
}

export const NAMESPACES = Array.from({ length: 10 }, (_, n) => `load-${n}`);
export const home = "load-0";

const target = (name: string): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", name });
const dataOf = (object: KubeObject | undefined): Readonly<Record<string, string>> =>
  (object?.["data"] ?? {}) as Readonly<Record<string, string>>;

/** Every other one, in a day. */
const isExpiring = (n: number): boolean => n % 20 < 10;

/** Every tenth Transaction of a namespace. */
const isSharing = (n: number): boolean => n % 100 < 10;

const placeOf = (n: number): string => NAMESPACES[n % NAMESPACES.length] ?? home;

const changesOf = (n: number): readonly JsonObject[] => [
  { type: "Patch", target: target(`own-${n}`), content: { data: { version: "2" } } },
  { type: "Create", target: target(`made-${n}`), content: { data: { by: `txn-${n}` } } },
  ...(isSharing(n) ? [{ type: "Patch", target: target("shared"), content: { data: { [`t${n}`]: "in" } } }] : []),
];

export const burst = (api: Api, count: number): Burst => {
  const numbers = Array.from({ length: count }, (_, n) => n);
  return {
    count,
    prepare: async () => {
      await allAtOnce(NAMESPACES, async (namespace) => {
        await openNamespace(api, namespace);
        await create(api, configMaps, namespace, { metadata: { name: "shared" } });
      });
      await sideBySide(CONNECTIONS, numbers, (n) =>
        create(api, configMaps, placeOf(n), { metadata: { name: `own-${n}` }, data: { version: "1", kept: "yes" } }),
      );
    },
    submit: async () =>
      void (await allAtOnce(numbers, (n) =>
        submit(api, placeOf(n), `txn-${n}`, changesOf(n), isExpiring(n) ? { ttlSecondsAfterFinished: 86_400 } : {}),
      )),
    wrong: async () => {
      const found = await sideBySide(CONNECTIONS, numbers, async (n) => {
        const namespace = placeOf(n);
        const { version, kept } = dataOf(await read(api, configMaps, namespace, `own-${n}`));
        const { by } = dataOf(await read(api, configMaps, namespace, `made-${n}`));
        const isRight = version === "2" && kept === "yes" && by === `txn-${n}`;
        const isShared = !isSharing(n) || dataOf(await read(api, configMaps, namespace, "shared"))[`t${n}`] === "in";
        return isRight && isShared ? [] : [`${namespace}/txn-${n}`];
      });
      return found.flat();
    },
  };
};
