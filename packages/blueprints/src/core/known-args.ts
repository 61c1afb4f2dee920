// The arguments of a phase as far as they are known before it begins, and what is wrong with them.
import { type Json, memoized } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { BlueprintPhase } from "../api/blueprint.ts";
import { type Args, type ArgTable, readArgs, renderArgs } from "./args.ts";
import { functionOf } from "./functions/index.ts";
import { stringsOf } from "./render-args.ts";
import { type Data, NIL } from "./templates.ts";

/** Fields that only the phases make known. */
export const LATER = ["Phases", "DeferPhase", "CurrentPhase"];

const NAMES_LATER = new RegExp(`\\b(?:${LATER.join("|")})\\b`, "u");

export const AT_START = { now: 0, seed: "", at: "start" };

export interface KnownArgs {
  readonly args: Partial<Args<ArgTable>>;
  /** No other argument is given. */
  readonly isComplete: boolean;
  readonly problems: readonly string[];
}

const isKnown = (value: Json, verbatim: string | undefined, data: Data | undefined): boolean =>
  stringsOf(value, "", verbatim).every(([, text]) =>
    data === undefined ? !text.includes("{{") : !(text.includes("{{") && NAMES_LATER.test(text)),
  );

/** @param data what templates see at the start. Absent: only what is no template is known */
export const knownArgs = ({ func = "", args = {} }: BlueprintPhase, data?: Data): KnownArgs => {
  const table: ArgTable = functionOf(func)?.args ?? {};
  return Object.entries(args).reduce<KnownArgs>(
    (known, [name, value]) => {
      const verbatim = table[name]?.verbatim;
      if (!isKnown(value, verbatim, data)) return { ...known, isComplete: false };
      const rendered = renderArgs(table, { [name]: value }, data ?? NIL, AT_START);
      const read = E.flatMap(rendered, (all) => readArgs(table, all));
      return E.isRight(read)
        ? { ...known, args: { ...known.args, ...read.right } }
        : { ...known, isComplete: false, problems: [...known.problems, read.left] };
    },
    { args: {}, isComplete: true, problems: [] },
  );
};

/** The arguments that are no templates. */
export const constantArgs = memoized((phase: BlueprintPhase): KnownArgs => knownArgs(phase));
