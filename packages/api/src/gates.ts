// The codec of waitFor: the gates of a change in the syntax of kubectl wait --for.
import { type Codec, satisfying, string } from "./codec.ts";
import type { Rule } from "./rule.ts";
import { list } from "./structure.ts";

const WORDS: readonly string[] = ["ready", "create", "delete"];
const WITH_ARGUMENT: readonly string[] = ["condition=", "jsonpath=", "cel="];

/** The controller parses what follows the first word, before the first change. */
const isGate: Rule<string> = {
  // Not a list of words: its cost would exceed the limit of the API server for so many changes.
  cel: [...WORDS.map((word) => `self == '${word}'`), ...WITH_ARGUMENT.map((word) => `self.startsWith('${word}')`)].join(
    " || ",
  ),
  message:
    "waitFor takes ready, condition=NAME, condition=NAME=VALUE, jsonpath={PATH}, jsonpath={PATH}=VALUE, cel=EXPRESSION, create or delete",
  holds: (text) => WORDS.includes(text) || WITH_ARGUMENT.some((word) => text.startsWith(word)),
};

/** The gates of a target, in the syntax of `kubectl wait --for`; all of them must be met. */
export const Gates: Codec<readonly string[]> = list(
  satisfying(string({ maxLength: 1024 }), isGate),
  { atomic: true },
  { maxItems: 8 },
);
