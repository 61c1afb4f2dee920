// Describes the streams of a Pod as requests for hooks, and builds their HTTP requests.
import * as E from "fp-ts/lib/Either.js";
import { pods } from "@janus/types";
import type { Create, Get, Request } from "../api/api.ts";
import type { ExecRequest, LogRequest } from "../api/pod-streams.ts";
import { type HttpRequest, httpOf } from "./http-request.ts";

const placeOf = ({ namespace, name, as, purpose, deadline }: LogRequest | ExecRequest) => ({
  resource: pods,
  namespace,
  name,
  ...(as === undefined ? {} : { as }),
  ...(purpose === undefined ? {} : { purpose }),
  ...(deadline === undefined ? {} : { deadline }),
});

/** What a hook sees of a log. */
export const asGet = (request: LogRequest): Get => ({ verb: "get", ...placeOf(request), subresource: "log" });

/** What a hook sees of a command. */
export const asCreate = (request: ExecRequest): Create => ({
  verb: "create",
  ...placeOf(request),
  subresource: "exec",
  body: {
    apiVersion: "v1",
    kind: "PodExecOptions",
    ...(request.container === undefined ? {} : { container: request.container }),
    command: request.command,
    stdin: request.stdin !== undefined,
    stdout: true,
    stderr: true,
  },
});

/** Of the query, in order. */
export type Parameters = readonly (readonly [name: string, value: string | number | boolean | undefined])[];

/** Of a log. */
export const logParameters = (request: LogRequest): Parameters => {
  const { container, follow, timestamps, sinceTime, tailLines, limitBytes } = request;
  return Object.entries({ container, follow, timestamps, sinceTime, tailLines, limitBytes });
};

/** Of a command. */
export const execParameters = ({ container, command, stdin }: ExecRequest): Parameters => [
  ["container", container],
  ...command.map((word) => ["command", word] as const),
  ...Object.entries({ stdin: stdin !== undefined, stdout: true, stderr: true }),
];

/**
 * The HTTP request of a stream.
 * @param asked as hooks have left it: place and user of the stream
 */
export const streamHttpOf = (asked: Request, parameters: Parameters): E.Either<string, HttpRequest> => {
  if (asked.verb !== "get" && asked.verb !== "create") return E.left(`a hook has made a ${asked.verb} of a stream`);
  const { resource, namespace = "", name = "", subresource = "", as } = asked;
  const get: Get = { verb: "get", resource, namespace, name, subresource, ...(as === undefined ? {} : { as }) };
  const query = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return E.map(({ method, path, headers }: HttpRequest) => ({
    method,
    path: query.length === 0 ? path : `${path}?${query.join("&")}`,
    // A log is no JSON; what is refused is all the same.
    headers: headers.map(([name, value]) => [name, name === "accept" ? "application/json, */*" : value] as const),
  }))(httpOf(get, 0));
};
