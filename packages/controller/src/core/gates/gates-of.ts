import type { Change, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { memoized } from "../kubernetes/memoize.ts";
import { type Gate, parseGate } from "./gate.ts";

const parsed = memoized((texts: readonly string[]): readonly Gate[] =>
  texts.flatMap((text) => {
    const gate = parseGate(text);
    return E.isRight(gate) ? [gate.right] : [];
  }),
);

const NONE: readonly string[] = [];

/** What a change waits for, as it is written; of a Delete nothing: it is applied when its target is gone. */
const textsOf = (change: Change | undefined, defaults: readonly string[] | undefined): readonly string[] =>
  change === undefined || change.type === "Delete" ? NONE : (change.waitFor ?? defaults ?? NONE);

/**
 * What the target of a change has to get to before the next change begins.
 *
 * Assumes: they can be read; see {@link gateMistakes}.
 */
export const gatesOf = ({ spec }: Transaction, index: number): readonly Gate[] =>
  parsed(textsOf(spec.changes[index], spec.waitFor));

/** What restored targets have to get to. */
export const rollbackGates = ({ spec }: Transaction): readonly Gate[] => parsed(spec.rollbackWaitFor ?? NONE);

/** What is wrong with these gates, in words, and where. */
const mistakes = (field: string, texts: readonly string[]): readonly string[] =>
  texts.flatMap((text, at) => {
    const gate = parseGate(text);
    return E.isRight(gate)
      ? []
      : [`${field}[${at}] ${JSON.stringify(text)}, character ${gate.left.position}: ${gate.left.message}`];
  });

/** Of the Transaction as a whole. */
export const gateMistakes = ({ spec }: Transaction): readonly string[] => [
  ...mistakes("spec.waitFor", spec.waitFor ?? NONE),
  ...mistakes("spec.rollbackWaitFor", spec.rollbackWaitFor ?? NONE),
];

const OF_DELETE: readonly string[] = ["ready", "delete"];

/** Of one of its changes. */
export const changeGateMistakes = (change: Change): readonly string[] => {
  const texts = change.waitFor ?? NONE;
  const never = change.type === "Delete" ? texts.filter((text) => !OF_DELETE.includes(text)) : [];
  return [
    ...mistakes("waitFor", texts),
    ...never.map((text) => `waitFor ${JSON.stringify(text)} cannot become true of what is deleted: remove it`),
  ];
};
