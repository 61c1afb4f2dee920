// The test library simulate, for authors of Transactions.
export { type Parsed, parse, type TransactionManifest } from "@janus/authoring";
export type { Denied } from "./api-server/denied.ts";
export type { Edit, ObjectName, Refusal, SimulateOptions } from "./options.ts";
export { simulate } from "./simulate.ts";
export type * from "./simulation.ts";
