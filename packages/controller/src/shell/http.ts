import { createServer, type Server } from "node:http";

/** What is answered to those who ask. */
export interface Answers {
  /** Whether the process works at all. */
  readonly healthy: () => boolean;
  /** Whether it does, or could at once take over, the work. */
  readonly ready: () => boolean;
  /** In the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
  /** As JSON. */
  readonly status: () => object;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS = "text/plain; version=0.0.4; charset=utf-8";

/** `/healthz`, `/readyz`, `/status` and `/metrics`. Port 0 takes a free one. */
export const serve = async (port: number, answers: Answers): Promise<Server> => {
  const server = createServer((request, response) => {
    const say = (ok: boolean): void => void response.writeHead(ok ? 200 : 503).end(ok ? "ok\n" : "not ok\n");
    const [path = ""] = (request.url ?? "").split("?");
    switch (path) {
      case "/healthz":
        return say(answers.healthy());
      case "/readyz":
        return say(answers.ready());
      case "/status":
        return void response
          .writeHead(200, { "content-type": "application/json" })
          .end(`${JSON.stringify(answers.status())}\n`);
      case "/metrics":
        return void answers.metrics().then(
          (text) => response.writeHead(200, { "content-type": METRICS }).end(text),
          () => response.writeHead(500).end(),
        );
      default:
        return void response.writeHead(404).end("try /healthz, /readyz, /status or /metrics\n");
    }
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, () => resolve());
  await promise;
  return server;
};
