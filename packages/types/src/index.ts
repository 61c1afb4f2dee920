export type * from "./api-error.ts";
export * from "./dns-name.ts";
export * from "./json.ts";
export * from "./kube-object.ts";
export * from "./object-size.ts";
export type * from "./resource.ts";
