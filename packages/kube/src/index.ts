// The Kubernetes client, for the controller and the command line: requests, watches, discovery.
export { answerTo } from "./http/answer.ts";
export type * from "./api/api.ts";
export { type Backoff, delayAfter } from "./api/backoff.ts";
export { type Clock, systemClock } from "./api/clock.ts";
export { entriesOfKubeconfig, loadConfig } from "./auth/kubeconfig.ts";
export { reasonOf } from "./api/error-reason.ts";
export { type Client, connect, type ConnectOptions } from "./http/client.ts";
export type { Connection, Credentials, TlsOptions } from "./auth/credentials.ts";
export { type Discovery, discovery, type UnknownKind } from "./discovery/discovery.ts";
export type * from "@janus/types";
export { listable, type NamedKind, namedKinds } from "./discovery/listable.ts";
export { eachPage, listAll, type Page, pageOf, watchable } from "./paging/list.ts";
export { FIRST_LIMIT, limitAfter, limitInstead, pageRequest } from "./paging/page-size.ts";
export { lruCache, type LruCache } from "./api/lru-cache.ts";
export { unanswered } from "./http/http-exchange.ts";
export { type HttpReply, replyOf } from "./http/http-response.ts";
export { type HttpRequest, httpOf } from "./http/http-request.ts";
export { eventOf } from "./http/watch.ts";
