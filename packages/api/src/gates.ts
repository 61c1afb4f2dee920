import { type Codec, satisfying, string } from "./codec.ts";
import type { Rule } from "./rule.ts";
import { list } from "./structure.ts";

const WORDS: readonly string[] = ["ready", "create", "delete"];
const WITH_ARGUMENT: readonly string[] = ["condition=", "jsonpath=", "cel="];

/** What follows the first word is read by the controller, before anything is touched. */
const isGate: Rule<string> = {
  // No list of words: that costs more than the API server allows for so many changes.
  cel: [...WORDS.map((word) => `self == '${word}'`), ...WITH_ARGUMENT.map((word) => `self.startsWith('${word}')`)].join(
    " || ",
  ),
  message:
    "waitFor takes ready, condition=NAME, condition=NAME=VALUE, jsonpath={PATH}, jsonpath={PATH}=VALUE, cel=EXPRESSION, create or delete",
  holds: (text) => WORDS.includes(text) || WITH_ARGUMENT.some((word) => text.startsWith(word)),
};

/** What a target has to get to, in the words of `kubectl wait --for`; all of them must hold. */
export const Gates: Codec<readonly string[]> = list(
  satisfying(string({ maxLength: 1024 }), isGate),
  { atomic: true },
  { maxItems: 8 },
);
