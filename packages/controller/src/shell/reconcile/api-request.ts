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
  type Discovered,
  events,
  type FindEvents,
  type Finding,
  type FindPods,
  type Found,
  type LookUp,
  type Settings,
  withoutSecrets,
} from "../../core/index.ts";
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
  { namespace, labelSelector }: FindPods,
): Promise<readonly KubeObject[]> => {
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
  return E.isRight(page) ? page.right.items : [];
};

const findEvents = async (
  api: Api,
  txn: Transaction,
  { namespace, uid }: FindEvents,
): Promise<readonly KubeObject[] | undefined> => {
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
  return E.isRight(page) ? page.right.items : undefined;
};

/** Where a kind is served. The API server may answer that it does not serve it: then, where one of its name, or like it, is. */
const discover = async (
  discovery: Discovery,
  asker: { readonly group: string; readonly api: Api },
  { apiVersion, kind, isMistake }: Discover,
): Promise<E.Either<ApiError, Discovered>> => {
  const found = await discovery.resource(apiVersion, kind, asker);
  if (E.isRight(found)) return E.right({ resource: found.right });
  if (found.left.type !== "unknown") return E.left(found.left);
  return E.right({ others: isMistake === true ? await discovery.servedIn(apiVersion, kind, asker) : [] });
};

/** Runs an effect that takes more than one request. */
export const lookUp = async (
  api: Api,
  discovery: Discovery,
  txn: Transaction,
  effect: LookUp,
): Promise<E.Either<ApiError, Finding>> => {
  switch (effect.purpose) {
    case "discover":
      return E.map((found: Discovered): Finding => ({ effect, found }))(
        await discover(discovery, { group: txn.metadata.namespace, api }, effect),
      );
    case "find-owned":
      return E.map((found: Found): Finding => ({ effect, found }))(await searchOwned(api, effect, impersonation(txn)));
    case "find-pods":
      return E.right({ effect, found: await findPods(api, txn, effect) });
    case "find-events":
      return E.right({ effect, found: await findEvents(api, txn, effect) });
  }
};
