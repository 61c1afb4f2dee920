// The state machine of a reflector: list, watch, and list again after errors.
import { type WatchEvent, type Backoff, delayAfter, FIRST_LIMIT, limitInstead, type Page } from "@janus/kube";
import { type ApiError, type KubeObject, retryAfterOf } from "@janus/types";

/** The state of a reflector. `failures`: how many in a row, until a watch delivers something. */
export type ReflectorState =
  | {
      readonly type: "listing";
      readonly have: readonly KubeObject[];
      /** Those that come first, as listed last since there is a page: later than all pages, which are of the moment of the first one. */
      readonly ahead: readonly KubeObject[];
      readonly next: string;
      /** The limit of the next page. */
      readonly limit: number;
      readonly failures: number;
    }
  | { readonly type: "watching"; readonly from: string; readonly hasEvents: boolean; readonly failures: number }
  | { readonly type: "waiting"; readonly ms: number; readonly failures: number };

/** The input of a step. */
export type ReflectorInput =
  /** Those that come first, before and between the pages of all. */
  | { readonly type: "some"; readonly objects: readonly KubeObject[] }
  /** `limit`: that of the next page. */
  | { readonly type: "page"; readonly page: Page; readonly limit: number }
  | { readonly type: "event"; readonly event: WatchEvent }
  | { readonly type: "ended" }
  | { readonly type: "failed"; readonly error: ApiError }
  | { readonly type: "waited" };

/** The output of a step. `all`: these objects and no others exist; `some`: these exist, and perhaps others. */
export type ReflectorOutput =
  | { readonly type: "all" | "some"; readonly objects: readonly KubeObject[] }
  | { readonly type: "applied" | "deleted"; readonly object: KubeObject };

export const initialReflectorState: ReflectorState = {
  type: "listing",
  have: [],
  ahead: [],
  next: "",
  limit: FIRST_LIMIT,
  failures: 0,
};

const backoff: Backoff = { first: 500, cap: 30_000 };

/**
 * One step of a reflector.
 *
 * A watch that the server ends normally is resumed. After anything else everything is listed again: events may be missing not
 * only after a 410. A watch that ended without even a bookmark is not resumed either, because one that starts at a
 * resourceVersion that the server has not reached (etcd restored from a backup) never delivers anything.
 *
 * @param random from 0 to 1
 */
export const reflectorStep = (state: ReflectorState, input: ReflectorInput, random: number): Step =>
  input.type === "failed" && state.type !== "waiting"
    ? [smaller(state, input.error) ?? waiting(state.failures + 1, random, input.error)]
    : state.type === "listing"
      ? listing(state, input)
      : state.type === "watching"
        ? watching(state, input, random)
        : [input.type === "waited" ? { ...initialReflectorState, failures: state.failures } : state];

type Step = readonly [next: ReflectorState, learnt?: ReflectorOutput];
type In<Name> = Extract<ReflectorState, { readonly type: Name }>;

const listing = (state: In<"listing">, input: ReflectorInput): Step => {
  // Before there is a page, it is unknown which is later.
  if (input.type === "some") return [state.next === "" ? state : { ...state, ahead: input.objects }, input];
  if (input.type !== "page") return [state];
  const { limit } = input;
  const { items, next, resourceVersion } = input.page;
  const objects = [...state.have, ...items];
  return next === ""
    ? [
        { type: "watching", from: resourceVersion, hasEvents: false, failures: state.failures },
        { type: "all", objects: [...objects, ...state.ahead] },
      ]
    : [{ ...state, have: objects, next, limit }];
};

/** A page that was too large is requested again with fewer objects. */
const smaller = (state: ReflectorState, error: ApiError): ReflectorState | undefined => {
  const limit = state.type === "listing" ? limitInstead(state.limit, error) : undefined;
  return limit === undefined || state.type !== "listing" ? undefined : { ...state, limit };
};

const watching = (state: In<"watching">, input: ReflectorInput, random: number): Step => {
  if (input.type === "event") return watched(state, input.event);
  if (input.type !== "ended") return [state];
  return [state.hasEvents ? { ...state, hasEvents: false } : waiting(state.failures + 1, random)];
};

const watched = (state: In<"watching">, event: WatchEvent): Step => {
  const from = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
  const next = { ...state, from: from ?? state.from, hasEvents: true, failures: 0 };
  return event.type === "BOOKMARK"
    ? [next]
    : [next, { type: event.type === "DELETED" ? "deleted" : "applied", object: event.object }];
};

const waiting = (failures: number, random: number, error?: ApiError): ReflectorState => {
  return { type: "waiting", ms: Math.max(retryAfterOf(error), delayAfter(failures, backoff, random)), failures };
};
