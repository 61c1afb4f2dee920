export type * from "./api-error.ts";
export type * from "./json.ts";
export type * from "./kube-object.ts";
export type * from "./resource.ts";
