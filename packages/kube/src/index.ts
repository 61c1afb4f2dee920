export type * from "./api.ts";
export { loadConfig } from "./config.ts";
export { connect, type ConnectOptions } from "./connect.ts";
export type { Connection, Credentials } from "./credentials.ts";
export type * from "./error.ts";
export type * from "./object.ts";
