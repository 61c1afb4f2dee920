// Turns an effect into an API request, impersonated where it is the ServiceAccount's.
import type { Transaction } from "@janus/api";
import {
  type Api,
  type ApiError,
  type Discovery,
  type Impersonation,
  type KubeObject,
  pageOf,
  type Request,
} from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiCall,
  type Discover,
  events,
  type FindEvents,
  type FindOwned,
  type FindPods,
  type Found,
  type Observations,
  type Settings,
  withoutSecrets,
} from "../../core/index.ts";
import type { Instant } from "@janus/types";
import { pods } from "@janus/types";
import { searchOwned } from "./search-owned.ts";

/** The user that the API server sees for a ServiceAccount; its groups come with the name. */
export const impersonation = (txn: Transaction): Impersonation => ({
  user: `system:serviceaccount:${txn.metadata.namespace}:${txn.spec.serviceAccountName}`,
});

/**
 * A change is applied with every field of its content, or not at all: an unknown field (a misspelt `dta`) is rejected by name;
 * by default the API server would drop it, and the target would lose its data. A rollback is not strict: the previous state
 * may have fields that the kind has lost since, and is restored without them.
 */
const isStrict = ({ purpose }: ApiCall): boolean => purpose === "dry-run" || purpose === "change";

/** The HTTP request of an effect. */
export const requestOf = (txn: Transaction, effect: ApiCall): Request => {
  const { call, as, dryRun, purpose } = effect;
  const { resource, namespace, name } = call.place;
  const to = {
    resource,
    purpose,
    ...(namespace === undefined ? {} : { namespace }),
    ...(as === "serviceAccount" ? { as: impersonation(txn) } : {}),
  };
  const dry = dryRun ? { dryRun } : {};
  const write = { ...dry, ...(isStrict(effect) ? { fieldValidation: "Strict" as const } : {}) };
  switch (call.verb) {
    case "get":
      return { verb: "get", ...to, name };
    case "create":
      return { verb: "create", ...to, ...write, body: call.body, fieldManager: call.manager };
    case "update":
      return { verb: "update", ...to, ...write, name, body: call.body, fieldManager: call.manager };
    case "apply":
      return { verb: "apply", ...to, ...write, name, body: call.body, fieldManager: call.manager, force: true };
    case "mergePatch": {
      const subresource = call.subresource === undefined ? {} : { subresource: call.subresource };
      return { verb: "mergePatch", ...to, name, ...subresource, body: call.body, fieldManager: "janus" };
    }
    case "delete":
      return {
        verb: "delete",
        ...to,
        ...dry,
        name,
        propagationPolicy: "Background",
        ...(Object.keys(call.preconditions).length === 0 ? {} : { preconditions: call.preconditions }),
      };
  }
};

/** Sends the request. An error of a Secret or a sensitive kind has no free text. */
export const sendRequest = async (
  api: Api,
  txn: Transaction,
  effect: ApiCall,
  settings: Pick<Settings, "sensitiveKinds">,
): Promise<E.Either<ApiError, KubeObject>> =>
  E.mapLeft((fault: ApiError) => withoutSecrets(fault, effect, txn, settings))(await api.send(requestOf(txn, effect)));

/** Messages name a few Pods at most. */
const MOST_PODS = 50;
/** Repeated ones are one. */
const MOST_EVENTS = 50;
/** Pods that are larger than usual must not use the memory of all Transactions. */
const MOST_BYTES = 4 * 2 ** 20;

const findPods = async (
  api: Api,
  txn: Transaction,
  { namespace, labelSelector, onAnswer }: FindPods,
): Promise<(known: Observations, now: Instant) => Observations> => {
  const listed = await api.send({
    verb: "list",
    resource: pods,
    namespace,
    labelSelector,
    limit: MOST_PODS,
    mostBytes: MOST_BYTES,
    as: impersonation(txn),
    purpose: "find-pods",
  });
  const page = E.chain((list: KubeObject) => pageOf(pods, list))(listed);
  // Pods only explain a message: if they cannot be listed it says less, and no decision waits for it.
  const found = E.isRight(page) ? page.right.items : [];
  return (known, now) => onAnswer(known, found, now);
};

const findEvents = async (
  api: Api,
  txn: Transaction,
  { namespace, uid, onAnswer }: FindEvents,
): Promise<(known: Observations, now: Instant) => Observations> => {
  const listed = await api.send({
    verb: "list",
    resource: events,
    namespace,
    fieldSelector: `involvedObject.uid=${uid}`,
    limit: MOST_EVENTS,
    mostBytes: MOST_BYTES,
    as: impersonation(txn),
    purpose: "find-events",
  });
  const page = E.chain((list: KubeObject) => pageOf(events, list))(listed);
  const found = E.isRight(page) ? page.right.items : undefined;
  return (known, now) => onAnswer(known, found, now);
};

/** Runs an effect that takes more than one request, and returns how to fold in the result. */
export const lookUp = async (
  api: Api,
  discovery: Discovery,
  txn: Transaction,
  effect: Discover | FindOwned | FindPods | FindEvents,
): Promise<E.Either<ApiError, (known: Observations, now: Instant) => Observations>> => {
  if (effect.purpose === "find-owned")
    return E.map((found: Found) => (known: Observations, now: Instant) => effect.onAnswer(known, found, now))(
      await searchOwned(api, effect, impersonation(txn)),
    );
  if (effect.purpose === "find-pods") return E.right(await findPods(api, txn, effect));
  if (effect.purpose === "find-events") return E.right(await findEvents(api, txn, effect));
  const asker = { group: txn.metadata.namespace, api };
  const found = await discovery.resource(effect.apiVersion, effect.kind, asker);
  // `unknown`: the API server answered, and does not serve the kind.
  if (E.isLeft(found) && found.left.type !== "unknown") return E.left(found.left);
  if (E.isRight(found)) return E.right((known, now) => effect.onAnswer(known, found.right, now));
  const { onOthers } = effect;
  const others = onOthers === undefined ? [] : await discovery.servedIn(effect.apiVersion, effect.kind, asker);
  return E.right((known, now) => effect.onAnswer(onOthers?.(known, others) ?? known, undefined, now));
};
