// A control plane that serves Transactions, a namespace of ConfigMaps to change, and Transactions as their users see them.
import { FINALIZER, type JsonObject, type Phase, transactions } from "@janus/api";
import { type Client, connect, type KubeObject, loadConfig } from "@janus/kube";
import { configMaps } from "@janus/types";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { sideBySide } from "../../fixtures/side-by-side.ts";
import { submit } from "../../load/crowd.ts";
import { CONNECTIONS, create, must, openNamespace } from "../../load/world.ts";
import { numbers } from "../figures.ts";
import { watched } from "../watched.ts";

export const NAMESPACE = "bench";
/** So long a Transaction may take, in ms. */
const PATIENCE = 600_000;

export interface Cluster {
  readonly plane: ControlPlane;
  /** As administrator. */
  readonly api: Client;
  /** Has ConfigMaps of these names created, as far as they are not there yet: `<prefix>-0` and so on. */
  readonly haveTargets: (prefix: string, count: number) => Promise<void>;
  /** Creates a Transaction; resolves when it has come to this phase, and rejects when it ends in another one. */
  readonly reach: (phase: Phase, name: string, changes: readonly JsonObject[]) => Promise<void>;
  /** Resolves when a Transaction is seen that is so. */
  readonly when: (name: string, isSo: (object: KubeObject) => boolean) => Promise<KubeObject>;
  /** Resolves when nothing is left to be done for these Transactions. */
  readonly over: (names: readonly string[]) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const ENDS: readonly Phase[] = ["Committed", "RolledBack", "Failed"];

const phaseOf = ({ status }: KubeObject & { readonly status?: { readonly phase?: Phase } }): Phase =>
  status?.phase ?? "Pending";

const hasReached =
  (wanted: Phase) =>
  (object: KubeObject): boolean => {
    const phase = phaseOf(object);
    if (phase !== wanted && ENDS.includes(phase))
      throw new Error(`${object.metadata.name} is ${phase}: ${JSON.stringify(object["status"])}`);
    return phase === wanted;
  };

const isOver = (object: KubeObject): boolean =>
  ENDS.includes(phaseOf(object)) && !(object.metadata.finalizers ?? []).includes(FINALIZER);

/** Assumes: Transactions are served, and that this is the only one of its control plane. */
export const cluster = async (plane: ControlPlane): Promise<Cluster> => {
  const api = connect(must(loadConfig({}, plane.kubeconfig)), {
    connections: 64,
    deadline: 60_000,
    writeTimeout: 30_000,
  });
  await openNamespace(api, NAMESPACE);
  const seen = await watched(api, transactions, NAMESPACE);
  const targets = new Map<string, number>();
  return {
    plane,
    api,
    haveTargets: async (prefix, count) => {
      const there = targets.get(prefix) ?? 0;
      await sideBySide(CONNECTIONS, numbers(count).slice(there), (n) =>
        create(api, configMaps, NAMESPACE, { metadata: { name: `${prefix}-${n}` }, data: { value: "none" } }),
      );
      targets.set(prefix, Math.max(there, count));
    },
    reach: async (phase, name, changes) => {
      await submit(api, NAMESPACE, name, changes);
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error(`${name} is not ${phase} in time`)), PATIENCE);
      await Promise.race([seen.when(name, hasReached(phase)), late.promise]).finally(() => clearTimeout(timer));
    },
    when: seen.when,
    over: async (names) => void (await Promise.all(names.map((name) => seen.when(name, isOver)))),
    stop: async () => {
      seen.stop();
      await api.close();
      await plane.stop();
    },
  };
};
