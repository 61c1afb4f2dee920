// The parsed gates of each change and of restored targets, and the mistakes in them.
import { memoized } from "@janus/types";
import type { Change, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { type Gate, parseGate } from "./gate.ts";
import type { SyntaxMistake } from "@janus/types";

const parsed = memoized((texts: readonly string[]): readonly Gate[] =>
  texts.map((text) => {
    const gate = parseGate(text);
    return E.isRight(gate) ? gate.right : { type: "malformed", text, message: gate.left.message };
  }),
);

const NONE: readonly string[] = [];

/** The gates that a change waits for, as they are written; none of a Delete: it is applied when its target is gone. */
const textsOf = (change: Change | undefined, defaults: readonly string[] | undefined): readonly string[] =>
  change === undefined || change.type === "Delete" ? NONE : (change.waitFor ?? defaults ?? NONE);

/**
 * The gates that the target of a change has to meet before the next change begins.
 *
 * Guarantees: none is left out: one that cannot be read is never met. It was refused before the first change (see
 *             {@link gateMistakes}), unless another version of the controller has begun.
 */
export const gatesOf = ({ spec }: Transaction, index: number): readonly Gate[] =>
  parsed(textsOf(spec.changes[index], spec.waitFor));

/** Whether there are any, without reading them. */
export const isGated = ({ spec }: Transaction, index: number): boolean =>
  textsOf(spec.changes[index], spec.waitFor).length > 0;

/** The gates that restored targets have to meet. */
export const rollbackGates = ({ spec }: Transaction): readonly Gate[] => parsed(spec.rollbackWaitFor ?? NONE);

/** Reading an expression takes up to some ten milliseconds for 1024 characters, and all other Transactions wait meanwhile. */
const MOST_EXPRESSIONS = 16_384;

/** All gates that a Transaction has, each once. */
const textsIn = ({ changes, waitFor = NONE, rollbackWaitFor = NONE }: Transaction["spec"]): readonly string[] => [
  ...new Set([...waitFor, ...rollbackWaitFor, ...changes.flatMap((change) => change.waitFor ?? NONE)]),
];

const tooMany = (texts: readonly string[]): string | undefined => {
  const length = texts.reduce((sum, text) => sum + (text.startsWith("cel=") ? text.length : 0), 0);
  return length <= MOST_EXPRESSIONS
    ? undefined
    : `the cel expressions of the Transaction have ${length} characters, and may have ${MOST_EXPRESSIONS} together: use fewer`;
};

const mistakeIn = (text: string): readonly (readonly [string, SyntaxMistake])[] => {
  const gate = parseGate(text);
  return E.isRight(gate) ? [] : [[text, gate.left]];
};

/** The mistake in each gate that cannot be read; or that there are too many to find that out. */
const syntaxMistakes = memoized((spec: Transaction["spec"]): ReadonlyMap<string, SyntaxMistake> | string => {
  const texts = textsIn(spec);
  return tooMany(texts) ?? new Map(texts.flatMap(mistakeIn));
});

/** Describes the mistakes in these gates, and where they are. */
const mistakes = (spec: Transaction["spec"], field: string, texts: readonly string[]): readonly string[] => {
  const bad = syntaxMistakes(spec);
  return texts.flatMap((text, at) => {
    const mistake = typeof bad === "string" ? undefined : bad.get(text);
    return mistake === undefined
      ? []
      : [`${field}[${at}] ${JSON.stringify(text)}, character ${mistake.position}: ${mistake.message}`];
  });
};

/** The mistakes in the gates of the Transaction as a whole. */
export const gateMistakes = ({ spec }: Transaction): readonly string[] => {
  const bad = syntaxMistakes(spec);
  return [
    ...(typeof bad === "string" ? [bad] : []),
    ...mistakes(spec, "spec.waitFor", spec.waitFor ?? NONE),
    ...mistakes(spec, "spec.rollbackWaitFor", spec.rollbackWaitFor ?? NONE),
  ];
};

const OF_DELETE: readonly string[] = ["ready", "delete"];

/** The mistakes in the gates of one of its changes. */
export const changeGateMistakes = ({ spec }: Transaction, index: number): readonly string[] => {
  const change = spec.changes[index];
  const texts = change?.waitFor ?? NONE;
  const never = change?.type === "Delete" ? texts.filter((text) => !OF_DELETE.includes(text)) : [];
  return [
    ...mistakes(spec, "waitFor", texts),
    ...never.map((text) => `waitFor ${JSON.stringify(text)} cannot become true of what is deleted: remove it`),
  ];
};
