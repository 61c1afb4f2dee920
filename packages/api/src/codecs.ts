// The combinators of codecs, for packages with kinds of their own.
export {
  boolean,
  type Codec,
  type Defaulted,
  described,
  integer,
  oneOf,
  optional,
  type Optional,
  satisfying,
  type Schema,
  string,
  strings,
  type TypeOf,
  withDefault,
} from "./codec.ts";
export type { Rule } from "./rule.ts";
export { type Decoded, excerpt, list, openObject } from "./structure.ts";
