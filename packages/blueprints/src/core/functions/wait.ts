// Wait and WaitV2: wait until objects meet conditions.
import { canonical, type Instant, isAbsent, type KubeObject, messageOf, parseDuration } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectReference } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import { pathsInTemplate, templateOfObject } from "../condition-languages.ts";
import { placeOf } from "../made-object.ts";
import { isTooDeep, TOO_DEEP } from "../named-objects.ts";
import { resourceNamed } from "../object-lookup.ts";
import {
  inquiryOf,
  type KanisterFunction,
  MOST_WATCHED,
  type PhaseContext,
  type PhaseStep,
  watchedAt,
  type WatchedObject,
} from "../phase-context.ts";
import { get, type Inquiry, type ObjectRef } from "../requests.ts";
import { type Condition, conditionProblems, type Language, readConditions, referencesIn } from "../wait-conditions.ts";

const args = {
  timeout: { type: "text", isRequired: true, about: "How long it waits at most, such as 5m." },
  conditions: {
    type: "object",
    isRequired: true,
    verbatim: "condition",
    about:
      "anyOf, allOf: lists of condition and objectReference: apiVersion (the version), group, resource, name, namespace.",
  },
} as const satisfies ArgTable;

const fail = (message: string): PhaseStep => ({ type: "fail", message });

/** The pause before the API server is asked again whether a kind is served, in ms. */
const PAUSE = 5000;

/** An object that is waited for, as it was seen. */
type Seen =
  | { readonly type: "object"; readonly object: KubeObject; readonly watched: WatchedObject }
  | { readonly type: "absent"; readonly why: string; readonly watched: WatchedObject }
  | { readonly type: "unserved"; readonly why: string }
  | { readonly type: "unreadable"; readonly why: string };

const shownRef = ({ resource = "", namespace = "", name = "" }: ObjectReference): string =>
  `${resource} ${namespace === "" ? name : `${namespace}/${name}`}`;

/** Looks at an object; undefined: it is still to be asked for. */
const look = (
  inquiry: Inquiry,
  context: PhaseContext,
  ref: ObjectReference,
  at: number,
  turn: number,
  isLast: boolean,
): Seen | undefined => {
  const again: Inquiry = { ...inquiry, ask: (effect) => inquiry.ask({ ...effect, fact: `${effect.fact}/${turn}` }) };
  const first = resourceNamed(inquiry, ref);
  const resource = first !== undefined && E.isLeft(first) && turn > 0 ? resourceNamed(again, ref) : first;
  if (resource === undefined) return undefined;
  if (E.isLeft(resource)) return { type: "unserved", why: resource.left };
  if (resource.right.namespaced && (ref.namespace ?? "") === "")
    return { type: "unreadable", why: "its objectReference needs a namespace" };
  const place: ObjectRef = placeOf(resource.right, ref.namespace ?? "", ref.name ?? "");
  const fact = isLast ? `last/${at}` : watchedAt(at);
  const answer = inquiry.ask(get("read-awaited", fact, place, context.serviceAccount));
  if (answer === undefined) return undefined;
  if (E.isRight(answer)) {
    if (isTooDeep(answer.right)) return { type: "unreadable", why: `it ${TOO_DEEP}` };
    const { resourceVersion } = answer.right.metadata;
    return { type: "object", object: answer.right, watched: { ref: place, resourceVersion } };
  }
  return isAbsent(answer.left)
    ? { type: "absent", why: "it does not exist", watched: { ref: place, resourceVersion: undefined } }
    : { type: "unreadable", why: messageOf(answer.left) };
};

/** The result of a condition. */
interface Outcome {
  readonly isMet: boolean;
  readonly why: string;
}

/**
 * Guarantees: it reads again on every change, and once more at the deadline, which counts from the recorded start of the phase.
 * Errors:     the deadline has passed: with the last values; an object may not be read.
 */
const waiting = (language: Language, read: Args<typeof args>, context: PhaseContext): PhaseStep => {
  const timeout = parseDuration(read.timeout.trim());
  if (timeout === undefined) return fail(`args.timeout is no duration such as 5m: "${read.timeout}"`);
  const conditions = readConditions(read.conditions);
  if (E.isLeft(conditions)) return fail(conditions.left);
  const { anyOf, allOf } = conditions.right;
  const refs = [...new Map([...anyOf, ...allOf].map(({ ref }) => [canonical(ref), ref])).values()];
  if (refs.length > MOST_WATCHED)
    return fail(`args.conditions name ${refs.length} objects, ${MOST_WATCHED} are the most`);

  const { startedAt, now } = context;
  const deadline = startedAt + timeout;
  const isLast = now >= deadline;
  const turn = Math.floor((Math.min(now, deadline) - startedAt) / PAUSE);
  const inquiry = inquiryOf(context);
  const seen = new Map(refs.map((ref, at) => [canonical(ref), look(inquiry, context, ref, at, turn, isLast)]));
  if (inquiry.missing.length > 0) return { type: "run", effects: inquiry.missing };
  const all = [...seen.values()].flatMap((one) => one ?? []);
  for (const [key, one] of seen)
    if (one?.type === "unreadable")
      return fail(`${shownRef(JSON.parse(key) as ObjectReference)} cannot be read: ${one.why}`);

  const outcome = ({ ref, text }: Condition): Outcome => {
    const one = seen.get(canonical(ref));
    if (one?.type !== "object") return { isMet: false, why: `${shownRef(ref)}: ${one?.why ?? "it is not known"}` };
    const { isMet, shown } = language.evaluate(text, one.object);
    return { isMet, why: `${shownRef(ref)}: ${shown}` };
  };
  const [any, every] = [anyOf.map(outcome), allOf.map(outcome)];
  if (any.some(({ isMet }) => isMet) || (every.length > 0 && every.every(({ isMet }) => isMet)))
    return { type: "end", output: {} };
  const why = [...new Set([...any, ...every].filter(({ isMet }) => !isMet).map((one) => one.why))].join("; ");
  if (isLast) return fail(`the conditions were not met within ${read.timeout}: ${why}`);
  const isUnserved = all.some(({ type }) => type === "unserved");
  return {
    type: "wait",
    until: isUnserved ? Math.min(deadline, startedAt + (turn + 1) * PAUSE) : deadline,
    because: why,
    watched: all.flatMap((one) => (one.type === "object" || one.type === "absent" ? [one.watched] : [])),
  };
};

/** @param languageAt the language of its conditions, when they are evaluated then */
export const waitIn = (about: string, languageAt: (now: Instant) => Language): KanisterFunction<typeof args> => ({
  about,
  args,
  outputs: "None.",
  // The objects are known only from rendered arguments.
  access: () => [],
  named: ({ conditions }) =>
    referencesIn(conditions).map(([at, reference]) => ({ verbs: ["get"], at, objects: reference, namespace: "" })),
  problems: ({ conditions }) => conditionProblems(languageAt(0), conditions),
  step: (read, context) => waiting(languageAt(context.now), read, context),
});

export const wait = waitIn(
  "Waits until objects meet conditions: templates in which paths such as {$.status.phase} stand for values.",
  pathsInTemplate,
);

export const waitV2 = waitIn(
  "Waits until objects meet conditions: templates of the objects, also with kubectl's functions exists and base64decode.",
  templateOfObject,
);
