// Counts requests and watches of the API server.
import type { Api, ApiError, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { Counter, Histogram, type Registry } from "prom-client";
import { elapsed } from "../process/clock.ts";
import type { ControllerNames } from "../process/controller-names.ts";

/** Named as RBAC does; apply, which is a patch there, has a name of its own. */
const VERBS: Partial<Record<Request["verb"], string>> = {
  raw: "get",
  mergePatch: "patch",
  strategicMergePatch: "patch",
};
export const verbOf = ({ verb }: Request): string => VERBS[verb] ?? verb;

/** 2xx, the HTTP code of an error, or why no answer came. */
export const codeOf = (answer: E.Either<ApiError, unknown>): string => {
  if (E.isRight(answer)) return "2xx";
  return answer.left.type === "refused" ? `${answer.left.code}` : answer.left.cause;
};

/** The API server, with its requests and watches counted. */
export const apiMetrics = (registry: Registry, { prefix }: ControllerNames): ((api: Api) => Api) => {
  const registers = [registry];
  const requests = new Counter({
    name: `${prefix}_api_requests_total`,
    help: "Requests to the API server; code is 2xx, the HTTP code of an error, or why no answer came (deadline, connection, never-sent, aborted, malformed, too-large).",
    labelNames: ["verb", "code"],
    registers,
  });
  const duration = new Histogram({
    name: `${prefix}_api_request_duration_seconds`,
    help: "Time until the API server had answered, or was given up. Watches are not in it.",
    labelNames: ["verb"],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  });
  return (api) => ({
    send: async (request) => {
      const verb = verbOf(request);
      const sent = elapsed();
      const answer = await api.send(request);
      duration.observe({ verb }, (elapsed() - sent) / 1000);
      requests.inc({ verb, code: codeOf(answer) });
      return answer;
    },
    watch: async function* (request, signal) {
      let code = "2xx";
      try {
        for await (const event of api.watch(request, signal)) {
          code = codeOf(event);
          yield event;
        }
      } finally {
        requests.inc({ verb: "watch", code });
      }
    },
  });
};
