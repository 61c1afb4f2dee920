// Go's text/template with the functions of sprig: parsing, rendering, and the values that templates are applied to.
export { LIMITS, type Limits } from "./execute/context.ts";
export type { MissingKey } from "./execute/fields.ts";
export { fieldsOf, type ReadField } from "./parse/fields-of.ts";
export type { Template } from "./parse/node.ts";
export { type Dialect, functionGroups, refusedFunctions } from "./functions/table.ts";
export { parseTemplate } from "./parse-template.ts";
export { type Rendered, type RenderOptions, renderTemplate, textOfRendered } from "./render-template.ts";
export type { TemplateError } from "./template-error.ts";
export { timeOfDate } from "./time/go-time.ts";
export { parseTime } from "./time/parse-time.ts";
export { fromJson } from "./value/from-json.ts";
export * from "./value/type.ts";
export {
  map,
  NIL,
  NONE,
  ofBool,
  ofBytes,
  ofFloat,
  ofInt,
  ofInt64,
  ofInteger,
  ofList,
  ofTime,
  pointer,
  str,
  struct,
  taint,
  type Value,
  zeroOf,
} from "./value/value.ts";
