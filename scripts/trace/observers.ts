// Finds the files of the core that fold the answers to requests, by the names that the requests give.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Decision } from "./life.ts";

const core = path.resolve(import.meta.dirname, "../../packages/controller/src/core");

/** The names of the folds of a file: the keys of its tables. */
const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/^export const \w+: Folds<[^]*?^\};$/gmu)].flatMap(([table]) =>
    [...table.matchAll(/^ {2}(?:"([a-z-]+)"|([a-z]+)):/gmu)].map(([, quoted, plain]) => quoted ?? plain ?? ""),
  );

/** The names of the folds of the answers to the requests of a decision, in the order of the requests. */
export const foldsOf = ({ step }: Pick<Decision, "step">): readonly (readonly string[])[] =>
  step.type === "run"
    ? step.effects.flatMap((effect) => ("call" in effect ? [effect.folds.map(({ type }) => type)] : []))
    : [];

/** The files that fold the answers of these decisions, in the order in which they first do. */
export const observersOf = (life: readonly Decision[]): readonly string[] => {
  const files = readdirSync(core, { recursive: true, encoding: "utf8" })
    .filter((file) => /(?:^|\/)observe-[a-z-]+\.ts$/u.test(file))
    .toSorted();
  const fileOf = new Map(
    files.flatMap((file) => namesIn(readFileSync(path.join(core, file), "utf8")).map((name) => [name, file] as const)),
  );
  return [
    ...new Set(
      life
        .flatMap(foldsOf)
        .flat()
        .flatMap((name) => fileOf.get(name) ?? []),
    ),
  ];
};
