// Turns manifests into Transactions, for the constructs, the command line and the test library.
export { isBuiltInGroup } from "./built-in-group.ts";
export { changeOf, targetOf } from "./change-of.ts";
export { inOrder, type Ordering } from "./in-order.ts";
export { inScope } from "./in-scope.ts";
export { transactionJsonSchema } from "./json-schema.ts";
export { kindOrder } from "./kind-order.ts";
export type * from "./manifest.ts";
export type { Mistake } from "@janus/api";
export { type Parsed, parse } from "./parse.ts";
export { type Permissions, permissionsOf, type PolicyRule } from "./permissions.ts";
export { type ResourceName, resourceOf } from "./resource.ts";
