export { changeOf, targetOf } from "./change-of.ts";
export { inOrder, type Ordering } from "./in-order.ts";
export { transactionJsonSchema } from "./json-schema.ts";
export { kindOrder } from "./kind-order.ts";
export type * from "./manifest.ts";
export { type Parsed, parse } from "./parse.ts";
export { type Permissions, permissionsOf, type PolicyRule } from "./permissions.ts";
export { type ResourceName, resourceOf } from "./resource.ts";
