// The entry point of the process that writes what is live to Git.
import { hostname } from "node:os";
import type { Api } from "@janus/kube";
import { packageVersion, runProcess } from "@janus/runtime/parts";
import type { JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { attribution } from "./attribution.ts";
import { entryFeed } from "./entry-feed.ts";
import { LEADER_LABEL, parseFlags } from "./flags.ts";
import { type Following, followEntries } from "./follow-entries.ts";
import { identityIn } from "./installation.ts";
import { NAMES } from "./names.ts";
import { type ServedWebhook, serveWebhook } from "./serve-webhook.ts";
import { startWork } from "./work.ts";
import { memoryOf, takeWorkDirectory, type WorkDirectory } from "./work-directory.ts";

const taken = async (directory: string): Promise<{ readonly work: WorkDirectory; readonly identity: string }> => {
  const work = await takeWorkDirectory(directory, memoryOf(directory)).catch((error: unknown) =>
    E.left(`the work directory ${directory} cannot be used: ${error instanceof Error ? error.message : ""}`),
  );
  if (E.isLeft(work)) {
    process.stderr.write(`${work.left}\n`);
    process.exit(1);
  }
  return { work: work.right, identity: await identityIn(directory, process.env["POD_NAME"] ?? hostname()) };
};

const flags = parseFlags(
  process.argv.slice(2).filter((arg) => arg !== "--git-journal"),
  process.env,
);
const place = E.isRight(flags) ? await taken(flags.right.workDirectory) : undefined;

await runProcess(flags, {
  names: NAMES,
  version: packageVersion(new URL("../../package.json", import.meta.url)),
  leaderLabel: LEADER_LABEL,
  limits: {
    http: { connections: 256, headerBytes: 8192, arrival: 3000, check: 500 },
    connections: { requests: 300, renewals: 4, election: 4, aside: 4 },
    stuckAfter: 60_000,
    asideDeadline: 2000,
  },
  instead: "create objects with the API server",
  isShared: ({ shards }) => shards,
  start: (context, values) => {
    if (place === undefined) throw new Error("there is no work directory");
    const authors = attribution();
    const { log, watchdog } = context;
    const { namespace, webhookPort: port, webhookRules: rules, certificates: files, shards } = values;
    const feed = shards ? entryFeed() : undefined;
    const record = (request: JsonObject): void => {
      const keyed = authors.record(request);
      if (keyed !== undefined) feed?.tell(keyed);
    };
    const serve = (api: Api): ServedWebhook =>
      serveWebhook({
        api,
        namespace,
        port,
        rules,
        ...(files === undefined ? {} : { files }),
        record,
        ...(feed === undefined ? {} : { feed }),
        log,
        watchdog,
      });
    const follow = (): Following => followEntries({ api: context.api, namespace, onEntry: authors.remember, log });
    return startWork(context, values, {
      ...place,
      env: process.env,
      authors,
      ...(values.ingests ? { serve, follow } : {}),
    });
  },
});
