// Tells what a 404 says is absent: the object, its kind, or something else.
import type { Request } from "../api/api.ts";
import { asObject, isObject, type Refused } from "@janus/types";

/** The response of the API server's router (that of Go) if it has no such group or version. */
const NO_PATH = /^404 page not found\s*$/;

/** What a 404 says is absent; `body` is parsed, or text. */
export const notFoundOf = (request: Request | undefined, body: unknown): Refused["notFound"] => {
  if (!isObject(body)) return typeof body === "string" && NO_PATH.test(body) ? "path" : undefined;
  if (body["kind"] !== "Status" || body["reason"] !== "NotFound") return undefined;
  const { name, kind, group = "" } = asObject(body["details"]);
  if (name === undefined && kind === undefined) return "path";
  if (request === undefined || request.verb === "raw" || request.verb === "list" || request.verb === "create")
    return "other";
  const { resource } = request;
  return name === request.name && kind === resource.plural && group === resource.group ? "object" : "other";
};
