import { createServer, type Server } from "node:http";
import type { Registry } from "prom-client";

export interface Health {
  /** Whether the process works at all. */
  readonly healthy: () => boolean;
  /** Whether it has seen every Transaction once, and takes care of them. */
  readonly ready: () => boolean;
}

/** `/healthz`, `/readyz` and `/metrics`. Port 0 takes a free one. */
export const serve = async (port: number, health: Health, registry: Registry): Promise<Server> => {
  const server = createServer((request, response) => {
    const say = (ok: boolean): void => void response.writeHead(ok ? 200 : 503).end(ok ? "ok\n" : "not ok\n");
    const [path = ""] = (request.url ?? "").split("?");
    switch (path) {
      case "/healthz":
        return say(health.healthy());
      case "/readyz":
        return say(health.ready());
      case "/metrics":
        return void registry.metrics().then(
          (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
      default:
        return void response.writeHead(404).end("try /healthz, /readyz or /metrics\n");
    }
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, () => resolve());
  await promise;
  return server;
};
