// Turns an HTTP response into an object or an ApiError.
import * as E from "fp-ts/lib/Either.js";
import type { Request } from "../api/api.ts";
import {
  type ApiError,
  asObject,
  isKubeObject,
  isObject,
  type KubeObject,
  parseJson,
  type Refused,
} from "@janus/types";
import { notFoundOf } from "./not-found.ts";

export interface HttpReply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** What an HTTP response means. `now` (ms since the epoch) turns a Retry-After date into a wait. @param request no watch */
export const replyOf = (reply: HttpReply, now: number, request?: Request): E.Either<ApiError, KubeObject> => {
  const body = parseJson(reply.body);
  // For a path that is no resource, any JSON object is valid.
  const any = request?.verb === "raw";
  if (reply.status >= 200 && reply.status < 300)
    return isKubeObject(body) || (any && isObject(body))
      ? E.right(body as KubeObject)
      : E.left({
          type: "unanswered",
          cause: "malformed",
          message: `the answer (HTTP ${reply.status}) is no Kubernetes object: ${excerptOf(reply.body)}`,
        });
  // The API server never redirects: something in front of it does, and may have forwarded the request.
  if (reply.status < 400)
    return E.left({ type: "unanswered", cause: "malformed", message: `HTTP ${reply.status}, which is not followed` });
  const retryAfter = capped(retryAfterIn(reply.retryAfter, now));
  // The Status of the server's own timeout (504) comes without a kind.
  const isStatus = isObject(body) && (body["kind"] === "Status" || body["status"] === "Failure");
  const refused = isStatus ? ofStatus(body, reply.status) : ofText(reply);
  const notFound = reply.status === 404 ? notFoundOf(request, body ?? reply.body) : undefined;
  return E.left({
    ...refused,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(notFound === undefined ? {} : { notFound }),
  });
};

/** A Kubernetes Status as an error: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
export const ofStatus = (status: Readonly<Record<string, unknown>>, httpStatus = 500): Refused => {
  const details = asObject(status["details"]);
  const seconds = details["retryAfterSeconds"];
  const retryAfter = capped(typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined);
  const causes = Array.isArray(details["causes"]) ? details["causes"].filter(isObject) : [];
  return {
    type: "refused",
    code: typeof status["code"] === "number" ? status["code"] : httpStatus,
    reason: text(status["reason"]) ?? "",
    message: text(status["message"]) ?? `HTTP ${httpStatus}`,
    causes: causes.map(causeOf),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
};

const causeOf = (cause: Readonly<Record<string, unknown>>): Refused["causes"][number] => {
  const field = text(cause["field"]);
  const reason = text(cause["reason"]);
  const message = text(cause["message"]);
  return {
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
};

/** Proxies, and paths that no API is served at, answer in plain text. */
const ofText = ({ status, body }: HttpReply): Refused => ({
  type: "refused",
  code: status,
  reason: "",
  message: body.trim() === "" ? `HTTP ${status}` : `HTTP ${status}: ${excerpt(body)}`,
  causes: [],
});

/** The maximum of a Retry-After, in ms. A longer one, such as a day, says nothing of when the server will recover. */
const LONGEST = 30_000;

const capped = (asked: number | undefined): number | undefined =>
  asked === undefined ? undefined : Math.min(asked, LONGEST);

/** RFC 9110, 10.2.3: seconds or a date. In ms; undefined if it is neither. */
const retryAfterIn = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
};

/** Errors are logged: an HTML page may be quoted, but not what may be part of a Secret. */
const excerptOf = (body: string): string =>
  /^\s*[{[]/.test(body) ? `${body.length} characters of JSON` : excerpt(body);

const excerpt = (body: string): string => {
  const line = body.trim().replaceAll(/\s+/g, " ");
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
};

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
