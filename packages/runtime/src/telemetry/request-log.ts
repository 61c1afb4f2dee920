// Logs each request, and says of a request in words where it goes.
import type { Api, Request } from "@janus/kube";
import { isObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { elapsed } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import { codeOf, verbOf } from "./api-metrics.ts";

const nameOf = (request: Exclude<Request, { verb: "raw" }>): string | undefined => {
  if ("name" in request && request.name !== undefined) return request.name;
  const metadata = "body" in request && "metadata" in request.body ? request.body.metadata : undefined;
  const { name } = isObject(metadata) ? metadata : {};
  return typeof name === "string" ? name : undefined;
};

const targetOf = (request: Request): string => {
  if (request.verb === "raw") return request.path;
  const place = [request.namespace, nameOf(request)].filter((part) => part !== undefined).join("/");
  return place === "" ? request.resource.kind : `${request.resource.kind} ${place}`;
};

/** What a request does, and to what, as fields. */
export const requestFields = (request: Request): Readonly<Record<string, unknown>> => ({
  verb: verbOf(request),
  target: targetOf(request),
});

/** The same API server; each request is a line of the log, at debug. Its message is the purpose of the request. */
export const withRequestLog = (api: Api, log: Log): Api => ({
  watch: api.watch,
  send: async (request) => {
    const began = elapsed();
    const answer = await api.send(request);
    log("debug", request.purpose ?? request.verb, {
      ...requestFields(request),
      code: codeOf(answer),
      ms: Math.round(elapsed() - began),
      ...(E.isLeft(answer) ? { error: messageOf(answer.left) } : {}),
    });
    return answer;
  },
});
