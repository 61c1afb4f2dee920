// Parses an incomplete command line to find out which argument or flag value comes next.
import type { Argument, Command, Option } from "commander";
import { clusterOptions } from "../commands/flags.ts";

/** The part of a command line that has been typed, and what comes next. */
export interface Typed {
  readonly command: Command;
  /** Arguments in their order. */
  readonly args: readonly string[];
  /** Flags by the name of the property that commander gives them. */
  readonly flags: Readonly<Record<string, string>>;
  readonly wanted: Wanted;
  /** The beginning of it. */
  readonly prefix: string;
}

export type Wanted =
  | { readonly type: "flag" }
  | { readonly type: "value"; readonly of: Option }
  | { readonly type: "command" }
  | { readonly type: "argument"; readonly of: Argument }
  | { readonly type: "nothing" };

/** kubectl takes the flags of every command before the command, too. */
const optionOf = ({ options }: Command, flag: string): Option | undefined =>
  [...options, ...clusterOptions()].find(({ long, short }) => flag === long || flag === short);

const takesValue = (option: Option | undefined): option is Option =>
  option !== undefined && (option.required || option.optional);

const nextOf = ({ commands, registeredArguments }: Command, args: readonly string[]): Wanted => {
  if (commands.length > 0) return { type: "command" };
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[args.length] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? { type: "nothing" } : { type: "argument", of: argument };
};

/** @param words of the command line, after the program; the last one, which may be empty, is being typed. */
export const typedOf = (program: Command, words: readonly string[]): Typed => {
  let command = program;
  let open: Option | undefined;
  const args: string[] = [];
  const flags: Record<string, string> = {};
  for (const word of words.slice(0, -1)) {
    const [name = "", ...value] = word.split("=");
    const option = word.startsWith("-") ? optionOf(command, name) : undefined;
    const called = args.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (open !== undefined) {
      flags[open.attributeName()] = word;
      open = undefined;
    } else if (takesValue(option) && value.length > 0) flags[option.attributeName()] = value.join("=");
    else if (takesValue(option)) open = option;
    else if (!word.startsWith("-") && called !== undefined) command = called;
    else if (!word.startsWith("-")) args.push(word);
  }
  const last = words.at(-1) ?? "";
  const [name = "", ...value] = last.split("=");
  const assigned = last.startsWith("-") && value.length > 0 ? optionOf(command, name) : undefined;
  const typed = { command, args, flags };
  if (open !== undefined) return { ...typed, wanted: { type: "value", of: open }, prefix: last };
  if (assigned !== undefined) return { ...typed, wanted: { type: "value", of: assigned }, prefix: value.join("=") };
  if (last.startsWith("-")) return { ...typed, wanted: { type: "flag" }, prefix: last };
  return { ...typed, wanted: nextOf(command, args), prefix: last };
};
