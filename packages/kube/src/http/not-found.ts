import type { Request } from "../api/api.ts";
import type { Refused } from "@janus/types";
import { isObject } from "../api/json.ts";

/** As the API server's router answers (Go's, in fact) where it has no such group or version. */
const NO_PATH = /^404 page not found\s*$/;

/** What a 404 says is not there; `body` as parsed, or as text. */
export const notFoundOf = (request: Request | undefined, body: unknown): Refused["notFound"] => {
  if (!isObject(body)) return typeof body === "string" && NO_PATH.test(body) ? "path" : undefined;
  if (body["kind"] !== "Status" || body["reason"] !== "NotFound") return undefined;
  const { name, kind, group = "" } = isObject(body["details"]) ? body["details"] : {};
  if (name === undefined && kind === undefined) return "path";
  if (request === undefined || request.verb === "raw" || request.verb === "list" || request.verb === "create")
    return "other";
  const { resource } = request;
  return name === request.name && kind === resource.plural && group === resource.group ? "object" : "other";
};
