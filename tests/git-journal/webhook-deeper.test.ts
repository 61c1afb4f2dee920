// The webhook's certificates while requests go on, its leader dying at each request, another leader beside it, and many writers.
import { connect } from "node:tls";
import { type Api, type Request, systemClock } from "@janus/kube";
import { asObject, configMaps, secrets } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { TLS_SECRET } from "../../packages/git-journal/src/api/names.ts";
import { bundleOf } from "../../packages/git-journal/src/core/certificates.ts";
import { ALL_RULES, trustedBundle } from "../../packages/git-journal/src/core/webhook-rules.ts";
import { makeAuthority, makeCertificate } from "../../packages/git-journal/src/shell/make-certificates.ts";
import { certificatesIn, hostsOf, issuerOf } from "../../packages/git-journal/src/shell/read-certificates.ts";
import { webhookConfigurations } from "../../packages/git-journal/src/shell/serve-webhook.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { deployment } from "../fixtures/manifests.ts";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { must } from "../load/world.ts";
import { tlsSecret, type WebhookWorld, webhookWorld } from "./webhook-world.ts";

const configMap = (name: string, data: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

const newWorld = async (rules?: "Selected" | "All"): Promise<WebhookWorld> => {
  const world = await webhookWorld(rules);
  onTestFinished(world.end);
  return world;
};

const DAY = 86_400_000;
/** So much faster than the real one is the clock of the rounds, so that a minute is a second. */
const SPEED = 60;

const fast = () => {
  const began = Date.now();
  return {
    clock: { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(ms / SPEED, run) },
    now: () => began + (Date.now() - began) * SPEED,
  };
};

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The certificate with which the webhook answers, as PEM. */
const served = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      resolve(`-----BEGIN CERTIFICATE-----\n${raw.toString("base64")}\n-----END CERTIFICATE-----\n`);
    });
    socket.once("error", reject);
  });

const caOf = async (world: WebhookWorld): Promise<string> => {
  const text = asObject((await tlsSecret(world))?.["data"])["ca.crt"];
  return Buffer.from(typeof text === "string" ? text : "", "base64").toString();
};

/** A Secret whose CA is to be renewed. @returns the CA */
const agedSecret = async ({ admin, namespace }: WebhookWorld): Promise<string> => {
  const now = Date.now();
  const old = await makeAuthority(now, { notBefore: now - 300 * DAY, notAfter: now + 65 * DAY });
  const pair = await makeCertificate(old, ["127.0.0.1"], now, { notBefore: now - 30 * DAY, notAfter: now + 60 * DAY });
  const data = {
    "ca.crt": base64(old.certificate),
    "ca.key": base64(old.key),
    "tls.crt": base64(pair.certificate),
    "tls.key": base64(pair.key),
  };
  const body = { apiVersion: "v1", kind: "Secret", metadata: { name: TLS_SECRET }, data };
  must(await admin.send({ verb: "create", resource: secrets, namespace, body }));
  return old.certificate;
};

describe("certificates", () => {
  it("are renewed while requests go on, the CA too, and no author is lost", async () => {
    const world = await newWorld();
    const { namespace, port } = world;
    const old = await agedSecret(world);
    world.serve(fast());
    await world.isCalled();
    expect(issuerOf(await served(port), certificatesIn(old))).toBeDefined();

    const alice = await world.as("alice");
    const renewed = { yet: false };
    let written = 0;
    const writing = (async () => {
      for (; !renewed.yet || written < 50; written += 1)
        must(
          await alice.send({
            verb: "create",
            resource: configMaps,
            namespace,
            body: configMap(`during-${written}`, { written: `${written}` }),
          }),
        );
    })();
    const bundle = certificatesIn(await caOf(world));
    expect(bundle).toHaveLength(2);
    const newest = bundle.slice(0, 1);
    expect(trustedBundle(await world.liveConfiguration())).toBe(bundleOf(bundle));
    await expect.poll(async () => issuerOf(await served(port), newest)).toBeDefined();
    renewed.yet = true;
    await writing;
    const during = () => world.changes.filter(({ name }) => name.startsWith("during-"));
    await expect.poll(() => during().length).toBe(written);
    expect(during().filter(({ by }) => by !== "alice")).toEqual([]);
    await world.isCalled();
  });

  it("of two leaders at once only one writes, and both trust what it has written", async () => {
    const world = await newWorld();
    world.serve();
    world.serve({ port: 0 });
    await world.isCalled();
    expect(trustedBundle(await world.liveConfiguration())).toBe(await caOf(world));
    expect(certificatesIn(await caOf(world))).toHaveLength(1);
  });

  it("are made anew where the Secret is lost or is nonsense", async () => {
    const world = await newWorld();
    world.serve(fast());
    await world.isCalled();
    const at = { resource: secrets, namespace: world.namespace, name: TLS_SECRET };
    const before = await caOf(world);
    must(await world.admin.send({ verb: "delete", ...at }));
    await expect.poll(async () => (await caOf(world)).length).toBeGreaterThan(0);
    expect(await caOf(world)).not.toBe(before);
    await world.isCalled();
    const nonsense = { "ca.crt": base64("x"), "tls.key": base64("y"), path: base64("../x") };
    must(await world.admin.send({ verb: "mergePatch", ...at, body: { data: nonsense } }));
    await expect.poll(async () => certificatesIn(await caOf(world))).toHaveLength(1);
    await world.isCalled();
  });
});

/** An API that is gone from the nth request on: before it, or after it was carried out. */
const dyingAt = (api: Api, nth: number, when: "before" | "after"): Api & { readonly isDead: () => boolean } => {
  let sent = 0;
  let isDead = false;
  const lost = E.left({ type: "unanswered", cause: "connection", message: "the process is dead" } as const);
  return {
    watch: api.watch,
    isDead: () => isDead,
    send: async (request: Request) => {
      if (isDead) return lost;
      const isLast = sent === nth;
      sent += 1;
      if (isLast) isDead = true;
      if (isLast && when === "before") return lost;
      const answer = await api.send(request);
      return isLast ? lost : answer;
    },
  };
};

/** Both are read, the Secret is written, and the configuration. */
const DEATHS = ["its first start", "a renewal"].flatMap((during) =>
  [0, 1, 2, 3].flatMap((nth) => (["before", "after"] as const).map((when) => ({ during, nth, when }))),
);
const SHARE = share({ npmTest: 16, ci: 8 });

describe("a leader that dies", () => {
  it.each(sampled(DEATHS, SHARE))(
    `$when request $nth of $during leaves what the next one goes on with${showShare("death", SHARE)}`,
    async ({ during, nth, when }) => {
      const world = await newWorld();
      if (during === "a renewal") await agedSecret(world);
      const api = dyingAt(world.admin, nth, when);
      const dying = world.serve({ api });
      await expect.poll(api.isDead).toBe(true);
      await dying.stop();
      world.serve();
      await world.isCalled();
      expect(trustedBundle(await world.liveConfiguration())).toBe(await caOf(world));
    },
  );
});

describe("a configuration that names a Service", () => {
  it("is completed with rules, CA and path, and the certificate is for that Service", async () => {
    const world = await newWorld();
    const { admin, namespace, configuration } = world;
    const { webhooks } = (await world.liveConfiguration()) as unknown as { readonly webhooks: readonly object[] };
    const service = { namespace, name: "journal", port: 443 };
    const body = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: configuration },
      webhooks: [{ ...webhooks[0], clientConfig: { service } }],
    };
    must(await admin.send({ verb: "delete", resource: webhookConfigurations, name: configuration }));
    must(await admin.send({ verb: "create", resource: webhookConfigurations, body }));
    world.serve({ rules: "All" });
    await expect.poll(async () => trustedBundle(await world.liveConfiguration())).toContain("CERTIFICATE");
    expect((await world.liveConfiguration())["webhooks"]).toMatchObject([
      {
        clientConfig: {
          service: { ...service, path: expect.stringMatching(/^\/process-validating-webhook\/[0-9a-f]{32}$/u) },
        },
        rules: ALL_RULES,
      },
    ]);
    expect(hostsOf(await served(world.port))).toEqual([`journal.${namespace}.svc`]);
  });
});

describe("many writers", () => {
  it.each(sampled(["Selected", "All"] as const, share({ npmTest: 2, ci: 2 })))(
    "are told apart, with rules %s: hardly a change has no author, and none a wrong one",
    async (rules) => {
      const world = await newWorld(rules);
      world.serve();
      await world.isCalled();
      const users = await Promise.all(
        ["alice", "bob", "carol"].map(async (user) => ({ user, api: await world.as(user) })),
      );
      const names = Array.from({ length: 30 }, (_, at) => `target-${at}`);
      for (const name of names)
        must(
          await world.admin.send({
            verb: "create",
            resource: configMaps,
            namespace: world.namespace,
            body: configMap(name, { by: "admin" }),
          }),
        );
      await Promise.all(
        users.map(async ({ user, api }) => {
          for (let round = 0; round < 200; round += 1) {
            const name = names[(round * 7) % names.length] ?? "";
            must(
              await api.send({
                verb: "mergePatch",
                resource: configMaps,
                namespace: world.namespace,
                name,
                body: { data: { by: user, round: `${round}` } },
              }),
            );
          }
        }),
      );
      const targets = () => world.changes.filter(({ name }) => names.includes(name));
      await expect.poll(() => targets().length).toBe(630);
      const wrong = targets().filter(({ by, object }) => by !== "" && by !== asObject(object["data"])["by"]);
      expect(wrong.map(({ name, by, object }) => [name, by, object["data"]])).toEqual([]);
      expect(targets().filter(({ by }) => by === "").length).toBeLessThanOrEqual(6);
    },
  );
});

const labelled = (tier: string) => {
  const manifest = deployment("web", "nginx");
  return { ...manifest, metadata: { ...manifest.metadata, labels: { tier } } };
};

describe("what kubectl does", () => {
  it("is whose who did it: apply by the client and by the server, and scale", async () => {
    const world = await newWorld();
    world.serve();
    await world.isCalled();
    const kubectlAs = async (user: string, args: readonly string[], object?: object) => {
      const input = { kubeconfig: await world.kubeconfigOf(user), stdin: JSON.stringify(object) };
      expect(await kubectlWith(input, "-n", world.namespace, ...args)).toMatchObject({ code: 0 });
    };
    await kubectlAs("alice", ["apply", "-f", "-"], labelled("a"));
    await kubectlAs("bob", ["scale", "deployment/web", "--replicas=3"]);
    await kubectlAs("alice", ["apply", "-f", "-"], labelled("b"));
    await kubectlAs("bob", ["apply", "--server-side", "--force-conflicts", "-f", "-"], labelled("c"));
    await expect.poll(() => world.of("web")).toEqual(["CREATE alice", "UPDATE bob", "UPDATE alice", "UPDATE bob"]);
  });
});

describe("dropped webhook", () => {
  it("writes succeed, are the bot's, and are counted as misses", async () => {
    const world = await newWorld();
    const webhook = world.serve();
    await world.isCalled();
    await webhook.stop();
    const alice = await world.as("alice");
    const place = { resource: configMaps, namespace: world.namespace };
    must(await alice.send({ verb: "create", ...place, body: configMap("alone", {}) }));
    await expect.poll(() => world.of("alone")).toEqual(["CREATE "]);
    const counts = await world.authors.registry.getMetricsAsJSON();
    const misses = counts.find(({ name }) => name === "gitopsreverser_enrich_misses_total");
    expect(misses?.values[0]?.value).toBe(world.changes.filter(({ by }) => by === "").length);
  });
});
