// `node scripts/run.mjs tests/bench/git-journal/webhook.ts`: what the webhook of the Git journal costs each write of the cluster.
import { performance, PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, connect, loadConfig } from "@janus/kube";
import { watchdog } from "@janus/runtime/parts";
import { configMaps } from "@janus/types";
import { attribution } from "../../../packages/git-journal/src/shell/attribution.ts";
import { serveWebhook, webhookConfigurations } from "../../../packages/git-journal/src/shell/serve-webhook.ts";
import { startControlPlane } from "../../control-plane/control-plane.ts";
import { freePorts } from "../../control-plane/free-ports.ts";
import { webhookAt } from "../../fixtures/webhook-at.ts";
import { must } from "../../load/world.ts";

/**
 * Writes of one round; rounds with and without the webhook take turns, since machines differ and drift. The quickest round counts: of
 * the others much is what else the machine is doing.
 */
const WRITES = 500;
const ROUNDS = 6;
const NAMESPACE = "default";
/** Of the value in an object, in bytes: small, and as large as most are at most. */
const SIZES = [700, 20_000];

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** How long each write takes, one after the other, in ms. */
const writes = async (api: Api, size: number, round: number): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let at = 0; at < WRITES; at += 1) {
    const began = performance.now();
    must(
      await api.send({
        verb: "mergePatch",
        resource: configMaps,
        namespace: NAMESPACE,
        name: "target",
        body: { data: { at: `${round} ${at}`, value: "x".repeat(size) } },
      }),
    );
    times.push(performance.now() - began);
  }
  return times;
};

const plane = await startControlPlane({ log: say });
try {
  const api = connect(must(loadConfig({}, plane.kubeconfig)));
  const [port = 0] = await freePorts(1);
  must(await api.send({ verb: "create", resource: webhookConfigurations, body: webhookAt(port) }));
  must(
    await api.send({
      verb: "create",
      resource: configMaps,
      namespace: NAMESPACE,
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "target" } },
    }),
  );
  const inside: number[] = [];
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) if (name === "HttpRequest") inside.push(duration);
  }).observe({ entryTypes: ["http"] });
  const authors = attribution();
  const webhook = serveWebhook({
    api,
    namespace: NAMESPACE,
    port,
    rules: "Selected",
    record: authors.record,
    log: () => undefined,
    watchdog: watchdog(),
  });
  let probes = 0;
  const isCalledNow = async (): Promise<boolean> => {
    const before = inside.length;
    probes += 1;
    must(
      await api.send({
        verb: "mergePatch",
        resource: configMaps,
        namespace: NAMESPACE,
        name: "target",
        body: { data: { probe: `${probes}` } },
      }),
    );
    await sleep(200);
    return inside.length > before;
  };
  /** The API server hears a moment later of what it shall call for. */
  const turn = async (isCalled: boolean): Promise<void> => {
    webhook.select(isCalled ? [configMaps] : []);
    while ((await isCalledNow()) !== isCalled) continue;
  };
  for (const size of SIZES) {
    const alone: number[] = [];
    const called: number[] = [];
    const handled: (readonly [median: number, p99: number])[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await turn(false);
      alone.push(quantile(await writes(api, size, 2 * round), 0.5));
      await turn(true);
      inside.length = 0;
      called.push(quantile(await writes(api, size, 2 * round + 1), 0.5));
      await sleep(200);
      handled.push([quantile(inside, 0.5), quantile(inside, 0.99)]);
    }
    const [a, b] = [Math.min(...alone), Math.min(...called)];
    const [median, p99] = [0, 1].map((at) => Math.min(...handled.map((one) => one[at] ?? 0)));
    say(
      [
        `${size} bytes: a write ${a.toFixed(2)} ms, with the webhook ${b.toFixed(2)} ms (median; ${(b - a).toFixed(2)} ms more)`,
        `inside ${median?.toFixed(2)} ms, p99 ${p99?.toFixed(2)} ms`,
      ].join("; "),
    );
  }
  await webhook.stop();
  await api.close();
} finally {
  await plane.stop();
}
