// Prints the requests of a decision: those of the same purpose on one line.
import type { Effect } from "../../packages/controller/src/core/state/effect.ts";
import type { SentRequest } from "../../packages/testing/src/controller/state.ts";
import type { Decision } from "./life.ts";
import { foldsOf } from "./observers.ts";

/** A request with its number in the life of the Transaction, from 1. */
interface Numbered extends SentRequest {
  readonly number: number;
  /** The names of what folds its answer. */
  readonly folds: readonly string[];
}

/** The verbs that have another name for a reader: an Apply is a type of change, and a Patch is sent in the same way. */
const VERBS: Readonly<Record<string, string>> = { mergePatch: "patch", apply: "server-side apply" };

const verbOf = ({ call }: SentRequest): string => {
  const verb = VERBS[call.verb] ?? call.verb;
  return "subresource" in call && call.subresource !== undefined ? `${verb} the status of` : verb;
};

const objectOf = ({ call: { place } }: SentRequest): string =>
  place.name === "" ? place.resource.kind : `${place.resource.kind} ${place.name}`;

/** Who asks, unless it is the controller, and whether the API server only checks it. */
const modeOf = ({ as, dryRun }: SentRequest): string =>
  `${dryRun ? ", as a dry run" : ""}${as === "serviceAccount" ? ", as the ServiceAccount" : ""}`;

/** Requests that differ only in their objects. */
const alike = (request: Numbered): string =>
  [request.purpose, verbOf(request), modeOf(request), request.error ?? "", ...request.folds].join("\n");

const counted = (objects: readonly string[]): string =>
  [...new Set(objects)]
    .map((object) => {
      const times = objects.filter((one) => one === object).length;
      return times === 1 ? object : `${object} (${times} times)`;
    })
    .join(", ");

const lineOf = (requests: readonly [Numbered, ...Numbered[]]): string => {
  const [first] = requests;
  const last = requests.at(-1) ?? first;
  const numbers = first === last ? `request ${first.number}` : `requests ${first.number}–${last.number}`;
  const refused = first.error === undefined ? "" : `, refused: ${first.error}`;
  const observed = first.folds.length === 0 ? "" : ` → ${first.folds.map((name) => `\`${name}\``).join(", ")}`;
  return `${numbers}, \`${first.purpose}\`: ${verbOf(first)} ${counted(requests.map(objectOf))}${modeOf(first)}${refused}${observed}`;
};

/** Those that take more than one request, and that the model answers at once. */
const lookUp = (effect: Effect): readonly string[] => {
  if ("call" in effect) return [];
  return [
    effect.purpose === "discover" ? `\`discover\`: ${effect.kind} in ${effect.apiVersion}` : `\`${effect.purpose}\``,
  ];
};

/** The requests that were sent for a decision, in their order. */
export const requestsOf = ({ before, step, after }: Decision): readonly string[] => {
  const folds = foldsOf({ step });
  const first = before.requests.length;
  const sent = after.requests
    .slice(first)
    .map((request, index): Numbered => ({ ...request, number: first + index + 1, folds: folds[index] ?? [] }));
  const groups: [Numbered, ...Numbered[]][] = [];
  for (const request of sent) {
    const last = groups.at(-1);
    if (last !== undefined && alike(last[0]) === alike(request)) last.push(request);
    else groups.push([request]);
  }
  return [...(step.type === "run" ? step.effects.flatMap(lookUp) : []), ...groups.map(lineOf)];
};
