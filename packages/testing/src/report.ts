// Turns the end of a simulation into plain data.
import { encodeStatus } from "@janus/api";
import type { EventSpec } from "@janus/controller/core";
import { placeKey } from "./api-server/world.ts";
import type { SentRequest, State } from "./controller/state.ts";
import { printed } from "./live-objects.ts";
import type { Scene } from "./scene.ts";
import type {
  SimulatedCondition,
  SimulatedEvent,
  SimulatedItem,
  SimulatedObject,
  SimulatedRequest,
  Simulation,
} from "./simulation.ts";
import { whyOf } from "./why.ts";

const VERBS = {
  get: "get",
  create: "create",
  update: "update",
  apply: "apply",
  mergePatch: "patch",
  delete: "delete",
} as const;

const PURPOSES: Readonly<Record<string, SimulatedRequest["purpose"]>> = {
  "read-target": "read",
  "read-contents": "read",
  "dry-run": "check",
  change: "change",
  restore: "rollback",
};

const isWrite = ({ purpose }: SentRequest): boolean => purpose === "change" || purpose === "restore";

const reported = (
  { call, as, purpose, dryRun, item, error }: SentRequest,
  serviceAccount: string,
): SimulatedRequest => {
  const { resource, namespace, name } = call.place;
  const { group, version, kind } = resource;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return {
    verb: VERBS[call.verb],
    target: { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name },
    ...("body" in call ? { body: call.body } : {}),
    dryRun,
    as: as === "serviceAccount" ? serviceAccount : "controller",
    purpose: PURPOSES[purpose] ?? "other",
    ...(item === undefined ? {} : { change: item }),
    ...(error === undefined ? {} : { error }),
  };
};

/** The changes of which a write of this purpose succeeded, in the order of the first one. */
const made = ({ requests }: State, purpose: SentRequest["purpose"]): readonly number[] => [
  ...new Set(
    requests.flatMap((request) =>
      request.purpose === purpose && request.call.verb !== "get" && request.error === undefined && !request.dryRun
        ? (request.item ?? [])
        : [],
    ),
  ),
];

const REFUSED = /^no changes were applied: /;

/** Why nothing was begun: what is wrong with each change, or else with all of it. */
const problemsOf = ({ txn, requests }: State): readonly string[] => {
  const { phase, items, conditions } = txn.status;
  if (phase !== "Failed" || requests.some((request) => isWrite(request) && !request.dryRun)) return [];
  const found = items.flatMap(({ state }, index) =>
    state.type === "refused" ? [`changes[${index}]: ${state.error}`] : [],
  );
  const why = conditions.find(({ type }) => type === "Failed")?.message ?? "";
  return found.length > 0 ? found : [why.replace(REFUSED, "")];
};

/** The items as the API has them. */
const itemsOf = ({ txn }: State): readonly SimulatedItem[] => {
  const { items } = encodeStatus(txn.status);
  return (items as unknown as readonly SimulatedItem[]).map((item) => {
    const { target, state, error, gateFailed, dependents } = item;
    return {
      target,
      state,
      ...(error === undefined ? {} : { error }),
      ...(gateFailed === undefined ? {} : { gateFailed }),
      ...(dependents === undefined ? {} : { dependents }),
    };
  });
};

/** The same event again only counts it. */
const eventsOf = ({ events }: State): readonly SimulatedEvent[] => {
  const found = new Map<string, EventSpec>();
  for (const event of events) {
    const key = JSON.stringify([event.reason, event.message]);
    if (!found.has(key)) found.set(key, event);
  }
  return [...found.values()].map(({ type, reason, message }) => ({ type, reason, message }));
};

/** The objects of users: not the Transaction, nor what was assumed to be there, nor what the controller keeps for itself. */
const objectsOf = ({ world, requests }: State, { live, start }: Scene): readonly SimulatedObject[] => {
  const own = requests.flatMap(({ as, call }) =>
    as === "controller" && call.verb === "create" ? [placeKey(call.place)] : [],
  );
  const hidden = new Set([...own, ...start.world.objects.keys()].filter((key) => !live.has(key)));
  const keys = [...new Set([...live.keys(), ...world.objects.keys()])];
  return keys.flatMap((key) => {
    const object = world.objects.get(key);
    return object === undefined || hidden.has(key) ? [] : [printed(object)];
  });
};

const conditionsOf = ({ txn }: State): readonly SimulatedCondition[] =>
  txn.status.conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message }));

/** Reports the outcome of a Transaction that has ended, as far as a user wants to know it. */
export const reportOf = (end: State, scene: Scene, which: "targets" | "all"): Simulation => {
  const told = {
    phase: end.txn.status.phase,
    problems: problemsOf(end),
    conditions: conditionsOf(end),
    items: itemsOf(end),
  };
  return {
    ...told,
    why: whyOf(told),
    events: eventsOf(end),
    requests: end.requests
      .filter(({ purpose }) => which === "all" || purpose in PURPOSES)
      .map((request) => reported(request, scene.scenario.serviceAccount.name)),
    applied: made(end, "change"),
    rolledBack: made(end, "restore"),
    objects: objectsOf(end, scene),
    before: [...scene.live.values()].map(printed),
  };
};
