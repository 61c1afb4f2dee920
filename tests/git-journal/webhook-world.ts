// A namespace whose writes the webhook sees, called by the real API server, and what a watch of it shows meanwhile, with authors.
import type { Api, KubeObject, Resource } from "@janus/kube";
import { secrets } from "@janus/types";
import { type Reflector, startReflector, watchdog } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import { expect, vi } from "vitest";
import { TLS_SECRET } from "../../packages/git-journal/src/api/names.ts";
import { identityOf, ingested, type KeptObject, seenChange } from "../../packages/git-journal/src/core/kept-object.ts";
import { ROOT } from "../../packages/git-journal/src/core/path.ts";
import { rulesOfWatchRule, type SelectedResource } from "../../packages/git-journal/src/core/selection.ts";
import { attribution, type Authors } from "../../packages/git-journal/src/shell/attribution.ts";
import {
  type ServedWebhook,
  serveWebhook,
  type ServeWebhookOptions,
  webhookConfigurations,
} from "../../packages/git-journal/src/shell/serve-webhook.ts";
import { freePorts } from "../control-plane/free-ports.ts";
import { connection } from "../fixtures/administrator.ts";
import { controlPlane, kubectl, userKubeconfig } from "../fixtures/cluster.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { webhookAt } from "../fixtures/webhook-at.ts";
import { must } from "../load/world.ts";
import { right } from "../unit/git-journal/right.ts";

/** A change that the watch has shown, and whose it is. */
export interface ShownChange {
  readonly name: string;
  readonly operation: string;
  /** Empty: nobody knows. */
  readonly by: string;
  readonly object: KubeObject;
}

const selected = (namespace: string, [group, version, plural, kind]: (typeof RESOURCES)[number]): SelectedResource => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
  rules: right(rulesOfWatchRule({ rules: [{ resources: [plural] }] }, namespace)),
});

const resourceOf = ({ group, version, plural, kind }: SelectedResource): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
  statusSubresource: false,
});

const keptOf = (object: KubeObject, resource: SelectedResource): KeptObject | undefined => {
  const secrets = { key: new Uint8Array(32), recipients: [] };
  const one = ingested(object, { resource, folder: ROOT, namespaceLabels: {}, secrets, format: "sha1" });
  return one.type === "kept" ? one.object : undefined;
};

/** Folds the events of one resource, as the journal does: what only moves the resourceVersion is kept, too. */
const show = (
  api: Api,
  namespace: string,
  resource: SelectedResource,
  { authorOf }: Authors,
  onChange: (change: ShownChange) => void,
  signal: AbortSignal,
): Reflector => {
  const kept = new Map<string, KeptObject>();
  let isSeed = true;
  const source = { resource: resourceOf(resource), namespace };
  return startReflector(api, source, {
    signal,
    onEvent: (event) => {
      if (event.type === "synced") {
        isSeed = false;
        return;
      }
      const { object } = event;
      const { name = "" } = object.metadata;
      const before = kept.get(name);
      const after = event.type === "deleted" ? undefined : keptOf(object, resource);
      if (after === undefined) kept.delete(name);
      else kept.set(name, after);
      const place = identityOf(resource, object);
      const change = seenChange(place, before, after === undefined ? undefined : { kept: after, object });
      if (isSeed || change === undefined) return;
      const by = authorOf(change);
      onChange({ name, operation: change.operation, by: by.type === "user" ? by.name : "", object });
    },
  });
};

export interface WebhookWorld {
  readonly namespace: string;
  /** Of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  readonly port: number;
  readonly authors: Authors;
  readonly admin: Api;
  readonly changes: readonly ShownChange[];
  /** `operation by` of each change of an object, in their order. */
  readonly of: (name: string) => readonly string[];
  /** A client of this user, who may do everything. */
  readonly as: (user: string) => Promise<Api>;
  readonly kubeconfigOf: (user: string) => Promise<string>;
  /** Starts a leader's webhook. */
  readonly serve: (more?: Partial<ServeWebhookOptions>) => ServedWebhook;
  /** Waits until writes are seen. */
  readonly isCalled: () => Promise<void>;
  readonly liveConfiguration: () => Promise<KubeObject>;
  readonly end: () => Promise<void>;
}

const kubeconfigOf = (name: string): Promise<string> => userKubeconfig(name, ["system:masters"]);

/** As `expect.poll`, which waits in tests only. */
const WAIT = { timeout: 300_000, interval: 100 };

const RESOURCES = [
  ["", "v1", "configmaps", "ConfigMap"],
  ["", "v1", "services", "Service"],
  ["apps", "v1", "deployments", "Deployment"],
  ["autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"],
] as const;

export const webhookWorld = async (rules: "Selected" | "All" = "Selected"): Promise<WebhookWorld> => {
  const namespace = await freshNamespace();
  const [port = 0] = await freePorts(1);
  const admin = connection(controlPlane.kubeconfig);
  const authors = attribution();
  const configuration = `git-journal-${namespace}`;
  must(
    await admin.send({
      verb: "create",
      resource: webhookConfigurations,
      body: webhookAt(port, configuration, {
        // Other suites write in other namespaces of this control plane.
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      }),
    }),
  );
  const resources = RESOURCES.map((one) => selected(namespace, one));
  const changes: ShownChange[] = [];
  const aborted = new AbortController();
  const shows = resources.map((resource) =>
    show(admin, namespace, resource, authors, (change) => void changes.push(change), aborted.signal),
  );
  await Promise.all(shows.map(({ synced }) => synced));
  const served: ServedWebhook[] = [];
  const of = (name: string): readonly string[] =>
    changes.filter((one) => one.name === name).map(({ operation, by }) => `${operation} ${by}`);
  let probes = 0;
  return {
    namespace,
    configuration,
    port,
    authors,
    admin,
    changes,
    of,
    kubeconfigOf,
    as: async (name) => connection(await kubeconfigOf(name)),
    serve: (more = {}) => {
      const one = serveWebhook({
        api: admin,
        namespace,
        port,
        rules,
        record: authors.record,
        log: () => undefined,
        watchdog: watchdog(),
        configuration,
        ...more,
      });
      one.select(resources);
      served.push(one);
      return one;
    },
    isCalled: () =>
      vi.waitFor(async () => {
        probes += 1;
        const name = `probe-${probes}`;
        await kubectl("create", "configmap", name, "-n", namespace);
        await vi.waitFor(() => expect(of(name)).toHaveLength(1), WAIT);
        expect(of(name)).toEqual(["CREATE admin"]);
      }, WAIT),
    liveConfiguration: async () =>
      must(await admin.send({ verb: "get", resource: webhookConfigurations, name: configuration })),
    end: async () => {
      aborted.abort();
      await Promise.all(shows.map(({ done }) => done));
      await Promise.all(served.map(({ stop }) => stop()));
      await admin.send({ verb: "delete", resource: webhookConfigurations, name: configuration });
    },
  };
};

/** The Secret of the webhook. */
export const tlsSecret = async ({ admin, namespace }: WebhookWorld): Promise<KubeObject | undefined> => {
  const answer = await admin.send({ verb: "get", resource: secrets, namespace, name: TLS_SECRET });
  return E.isRight(answer) ? answer.right : undefined;
};

/** Such a world whose webhook also tells these authors of requests. */
export const attributedWorld = async (authors: Authors): Promise<WebhookWorld> => {
  const world = await webhookWorld();
  world.serve({
    record: (request) => {
      world.authors.record(request);
      authors.record(request);
    },
  });
  await world.isCalled();
  return world;
};
