// The combinators of codecs, for packages with kinds of their own.
export {
  boolean,
  type Codec,
  type Defaulted,
  described,
  integer,
  optional,
  type Optional,
  type Schema,
  string,
  strings,
  type TypeOf,
} from "./codec.ts";
export { type Decoded, excerpt, list, openObject } from "./structure.ts";
