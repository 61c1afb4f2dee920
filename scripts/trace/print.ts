// Prints the life of a Transaction in Markdown: one numbered entry for each decision, and links to the files of the core.
import type { Decision, Misfortunes } from "./life.ts";
import type { Maker } from "./makers.ts";
import { observersOf } from "./observers.ts";
import { recorded } from "./recorded.ts";
import { requestsOf } from "./requests.ts";

const CORE = "packages/controller/src/core/";

/** The functions of one file that called each other. */
const byFile = (makers: readonly Maker[]): readonly string[] => {
  const files: { readonly file: string; readonly names: string[] }[] = [];
  for (const { file, name } of makers) {
    const last = files.at(-1);
    if (last?.file === file) last.names.push(name);
    else files.push({ file, names: [name] });
  }
  return files.map(({ file, names }) => `[${file}] ${names.map((name) => `\`${name}\``).join(" → ")}`);
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Who has decided. */
const decider = ({ step, makers }: Decision): string => {
  if (step.type === "done") return "Nothing is left to do.";
  // The loop renews locks that are due without asking `decide`.
  return makers.length === 0 ? "Beside the decisions, since it is due:" : byFile(makers).join(" → ");
};

const waited = ({ step, before, after }: Decision): readonly string[] =>
  step.type === "wait"
    ? [`waits${after.now > before.now ? ` ${seconds(after.now - before.now)}` : ""}: ${step.because}`]
    : [];

const isKilled = ({ before, after }: Decision, { crashAt }: Misfortunes): boolean =>
  crashAt !== undefined && before.requests.length < crashAt && after.requests.length === crashAt;

const entry = (decision: Decision, number: number, misfortunes: Misfortunes): string => {
  const killed = isKilled(decision, misfortunes)
    ? ["**the controller is killed** before it has the answer; a new process knows only what is recorded"]
    : [];
  const facts = [
    ...requestsOf(decision),
    ...recorded(decision).map((fact) => `recorded in ${fact}`),
    ...waited(decision),
    ...killed,
  ];
  const label = `${number}. `;
  return [`${label}${decider(decision)}`, ...facts.map((fact) => `${" ".repeat(label.length)}- ${fact}`)].join("\n");
};

/** The files of the core that decided something, in the order in which they first did. */
export const filesOf = (life: readonly Decision[]): readonly string[] => [
  ...new Set(life.flatMap(({ makers }) => makers.map(({ file }) => file))),
];

/** The links to the files that decided something, and to those that folded what was answered. @param base the way from the page to the root of the repository: "" or "../" */
export const linksOf = (life: readonly Decision[], base: string): string =>
  [...filesOf(life), ...observersOf(life)].map((file) => `[${file}]: ${base}${CORE}${file}`).join("\n");

/** The index of the first decision in which two lives differ. */
export const firstDifference = (one: readonly Decision[], other: readonly Decision[]): number =>
  one.findIndex((decision, index) => {
    const counterpart = other[index];
    return counterpart === undefined || entry(decision, index, {}) !== entry(counterpart, index, {});
  });

/** The decisions from this index on, below the phase in which they were made. */
export const decisionsOf = (life: readonly Decision[], misfortunes: Misfortunes = {}, from = 0): string => {
  const text: string[] = [];
  let phase: string | undefined;
  for (const [index, decision] of life.slice(from).entries()) {
    const current = decision.before.txn.status.phase;
    if (current !== phase) text.push(`${phase === undefined ? "" : "\n"}## ${current}\n`);
    phase = current;
    text.push(entry(decision, from + index + 1, misfortunes));
  }
  return text.join("\n");
};
