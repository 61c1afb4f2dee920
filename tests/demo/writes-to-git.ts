// Act (f): the cluster is in Git, each change a commit of who made it, and a Transaction one commit of who requested it.
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { KubeObject } from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { gitJournalCrds } from "../../packages/git-journal/src/api/crds.ts";
import { API_VERSION, WEBHOOK_CONFIGURATION, WEBHOOK_NAME } from "../../packages/git-journal/src/api/names.ts";
import { webhookConfigurations } from "../../packages/git-journal/src/shell/serve-webhook.ts";
import { memoryOf } from "../../packages/git-journal/src/shell/work-directory.ts";
import { freePorts } from "../control-plane/free-ports.ts";
import { leash } from "../control-plane/leash.ts";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { replica } from "../fixtures/replica.ts";
import { webhookAt } from "../fixtures/webhook-at.ts";
import { type Admin, admin as connectAs } from "./admin.ts";
import { imagePatch } from "./commits.ts";
import { kubectl } from "./kubectl.ts";
import { progressPrinter, stopwatch } from "./print-progress.ts";
import { runTransaction } from "./run-transaction.ts";
import { bold, dim, green, heading, say, sayWrapped } from "./say.ts";
import { appConfig, shop, webServer } from "./shop.ts";
import type { Stage } from "./stage.ts";
import { until } from "./until.ts";

const name = "deploy-v5";
const spec = {
  changes: [
    { target: { ...appConfig }, type: "Patch", content: { data: { version: "5.0" } } },
    { target: { ...webServer }, type: "Patch", content: imagePatch("myapp:v5.0") },
  ],
};

/** Of one object: so they are commits of their own, even in one push. */
const writes = [
  { by: "alice", what: "greeting: good morning", data: { greeting: "good morning" } },
  { by: "bob", what: "currency: CHF", data: { currency: "CHF" } },
  { by: "alice", what: "closed: sunday", data: { greeting: "good morning", closed: "sunday" } },
] as const;

/** What the log has in the end, newest first. */
const promised = [
  `bob: Transaction ${shop}/${name}: Committed, 2 changes`,
  ...writes.map(({ by }) => `${by}: [UPDATE] core/v1/configmaps/${shop}/${appConfig.name} by user/${by}`).toReversed(),
];

/** The people, who may do in the shop what the built-in role `edit` allows. */
const staff: KubeObject = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { namespace: shop, name: "staff" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
  subjects: ["alice", "bob"].map((name) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name })),
};

const journalObject = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { namespace: shop, name },
  spec,
});

const configuration = (repoUrl: string): readonly KubeObject[] => [
  journalObject("GitRepoConfig", "cluster", { repoUrl, allowedBranches: ["main"] }),
  journalObject("GitDestination", "prod", { repoRef: { name: "cluster" }, branch: "main", baseFolder: "prod" }),
  journalObject("WatchRule", "all", { destinationRef: { name: "prod" }, rules: [{ resources: ["*"] }] }),
];

/** Whether the API server tells the webhook what this user writes: it does so of dry runs, too, and counts its calls. */
const isWebhookCalled = async ({ client }: Admin, { controlPlane }: Stage): Promise<boolean> => {
  const at = { resource: configMaps, namespace: shop, name: appConfig.name };
  const written = await client.send({ verb: "mergePatch", ...at, dryRun: true, body: { data: { greeting: "hi" } } });
  const metrics = await kubectl(controlPlane, "", "get", "--raw", "/metrics");
  const calls = `apiserver_admission_webhook_request_total{code="200",name="${WEBHOOK_NAME}"`;
  return E.isRight(written) && metrics.includes(calls);
};

/** Writes as two people, while the journal runs on an empty bare repository behind `git http-backend`. */
export const writesToGit = async (stage: Stage): Promise<void> => {
  const {
    controlPlane,
    admin,
    expectations: { expect },
  } = stage;
  heading("(f) The cluster in Git: three changes by two people, and one Transaction");
  sayWrapped(
    `The Git journal writes namespace ${shop} to a bare repository, through git http-backend. The API server tells its webhook who ` +
      "writes. It pushes after a second, and not after 20.",
    2,
    dim,
  );
  const directory = path.join(controlPlane.directory, "journal");
  await mkdir(directory);
  const workDirectory = path.join(directory, "work");
  const held = leash(directory);
  const memory = leash(memoryOf(workDirectory));
  const server = await startGitServer({ tls: false, home: directory });
  const [port = 0] = await freePorts(1);
  const journal = await replica(
    "git-journal",
    [
      "--git-journal",
      `--kubeconfig=${controlPlane.kubeconfig}`,
      `--watch-namespace=${shop}`,
      "--leader-elect=false",
      `--work-dir=${workDirectory}`,
      `--webhook-port=${port}`,
      "--git-batch-max-wait-sec=1",
    ],
    directory,
    held,
  );
  const person = async (user: string): Promise<Admin> => connectAs(await controlPlane.userKubeconfig(user));
  const [alice, bob] = await Promise.all([person("alice"), person("bob")]);
  const people = { alice, bob };
  try {
    for (const crd of gitJournalCrds) await admin.create(crd as unknown as KubeObject);
    await Promise.all([staff, webhookAt(port)].map((one) => admin.create(one)));
    await journal.start();
    for (const object of configuration(server.url)) {
      const { apiVersion, kind } = object;
      const isServed = () =>
        admin.get({ apiVersion, kind, namespace: shop, name: "any" }).then(
          () => true,
          () => false,
        );
      await until(`${kind} is served`, isServed);
      await admin.create(object);
    }
    const git = gitOf(server.directory);
    await until("what is there is in Git", () => Promise.resolve(git(["for-each-ref", "refs/heads/main"]) !== ""));
    const first = git(["rev-parse", "main"]);
    await until("the webhook is called", () => isWebhookCalled(alice, stage));

    const time = stopwatch();
    const { apiVersion, kind, ...metadata } = appConfig;
    for (const { by, what, data } of writes) {
      say(`${time()}  ${bold(by.padEnd(11))}  ${kind} ${metadata.name}: ${what}`);
      await people[by].apply({ apiVersion, kind, metadata, data }, by);
    }
    say(`${time()}  ${bold("bob".padEnd(11))}  Transaction ${name}`);
    const { status } = await runTransaction(bob, name, spec, progressPrinter(time, { items: true }));
    expect(`${name} is Committed`, status.phase === "Committed", `it is ${status.phase}`);
    const log = (): readonly string[] => git(["log", "--format=%an: %s", `${first}..main`]).split("\n");
    await until("the Transaction is in Git", () => Promise.resolve(log().some((line) => line.includes(name))));
    say(`${time()}  ${green("in Git")}`);

    say();
    say(dim("$ git log --format='%h %an: %s'"), 2);
    for (const line of git(["log", "--format=%h %an: %s", "main"]).split("\n")) say(line, 2);
    say();
    say(dim(`$ git diff --unified=0 ${first.slice(0, 7)} main`), 2);
    const diff = git(["diff", "--unified=0", first, "main"]).split("\n");
    for (const line of diff.filter((one) => !/^(?:diff|index) /u.test(one))) say(line, 2);

    expect(
      "each change is a commit of who made it, and the Transaction is one",
      log().join("\n") === promised.join("\n"),
      log().join("; "),
    );
    const trailers = git(["log", "-1", "--format=%(trailers)", "main"]);
    expect("its commit says who requested it", trailers.includes("\nRequested-by: bob\n"), trailers);
  } finally {
    await admin.client.send({ verb: "delete", resource: webhookConfigurations, name: WEBHOOK_CONFIGURATION });
    await Promise.all([alice.client.close(), bob.client.close(), journal.end()]);
    server.stop();
    await Promise.all([held.end(), memory.end()]);
  }
};
