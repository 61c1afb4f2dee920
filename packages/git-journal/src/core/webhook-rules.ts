/**
 * Narrows the rules of the webhook to the resources that are selected, since each call costs each such write of the cluster.
 *
 * The manifest of the configuration leaves out what the leader writes: rules, CA and path. So installing it again undoes nothing.
 */
import { asObject, equal, type Json, type JsonObject, isObject, type KubeObject } from "@janus/types";
import { WEBHOOK_NAME, WEBHOOK_PATH } from "../api/names.ts";
import { OPERATIONS } from "../api/watch-rule.ts";
import type { SelectedResource } from "./selection.ts";

const ALL = "*";
const SCALE = "*/scale";

/** The rules for all resources. */
export const ALL_RULES: readonly JsonObject[] = [
  { apiGroups: [ALL], apiVersions: [ALL], operations: OPERATIONS, resources: [ALL, SCALE], scope: ALL },
];

/** A resource, in the version in which it is written. */
export type WatchedResource = Pick<SelectedResource, "group" | "version" | "plural" | "namespaced">;

/**
 * Makes the rules for these resources and their scales.
 *
 * Guarantees: the same for the same resources, in whatever order; with the default `matchPolicy` a request in another version is seen
 *             as one in the version that is written.
 */
export const rulesFor = (resources: readonly WatchedResource[]): readonly JsonObject[] => {
  const plurals = new Map<string, { readonly of: WatchedResource; readonly names: Set<string> }>();
  for (const of of resources) {
    const key = `${of.group} ${of.version} ${of.namespaced}`;
    const known = plurals.get(key) ?? { of, names: new Set() };
    known.names.add(of.plural);
    plurals.set(key, known);
  }
  return [...plurals]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { of, names }]) => ({
      apiGroups: [of.group],
      apiVersions: [of.version],
      operations: OPERATIONS,
      resources: [...[...names].toSorted(), SCALE],
      scope: of.namespaced ? "Namespaced" : "Cluster",
    }));
};

const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Finds our webhook in a configuration; undefined: it has none. */
const webhookOf = (configuration: KubeObject): JsonObject | undefined =>
  objects(configuration["webhooks"]).find(({ name }) => name === WEBHOOK_NAME);

const textOf = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

/** The host by which the webhook is called, and which its certificate has to be for; undefined: it is not called. */
export const calledHost = (configuration: KubeObject): string | undefined => {
  const { url, service } = asObject(webhookOf(configuration)?.["clientConfig"]);
  if (typeof url === "string") return URL.canParse(url) ? new URL(url).hostname.replaceAll(/[[\]]/gu, "") : undefined;
  const { name, namespace } = asObject(service);
  return typeof name === "string" && typeof namespace === "string" ? `${name}.${namespace}.svc` : undefined;
};

const HTTPS = 443;

/** Returns the host and port at which the webhook is called; undefined: it is not. */
export const calledAt = (configuration: KubeObject): { readonly host: string; readonly port: number } | undefined => {
  const host = calledHost(configuration);
  if (host === undefined) return undefined;
  const { url, service } = asObject(webhookOf(configuration)?.["clientConfig"]);
  const port = typeof url === "string" ? Number(new URL(url).port) : asObject(service)["port"];
  return { host, port: typeof port === "number" && port > 0 ? port : HTTPS };
};

/** Returns the CAs that the callers trust, as PEM. */
export const trustedBundle = (configuration: KubeObject): string =>
  Buffer.from(textOf(asObject(webhookOf(configuration)?.["clientConfig"])["caBundle"]) ?? "", "base64").toString();

export interface WantedWebhook {
  readonly rules: readonly JsonObject[];
  /** The CAs that callers are to trust, as PEM; undefined: somebody else writes them. */
  readonly trusted: string | undefined;
  /** The path of the URL, which only the API server is told, so that nobody else can make up requests. */
  readonly path: string;
}

const clientConfig = ({ url, caBundle, service }: JsonObject, { trusted, path }: WantedWebhook): JsonObject => {
  const bundle = trusted === undefined ? textOf(caBundle) : Buffer.from(trusted).toString("base64");
  const called = textOf(url);
  return {
    ...(bundle === undefined ? {} : { caBundle: bundle }),
    ...(called === undefined
      ? { service: { ...asObject(service), path } }
      : { url: URL.canParse(called) ? new URL(path, called).href : called }),
  };
};

/**
 * Makes a strategic merge patch that brings a configuration to what is wanted; undefined: nothing differs.
 *
 * Guarantees: it touches no other webhook of the configuration, and no field that is for whoever installs it.
 */
export const configurationPatch = (configuration: KubeObject, wanted: WantedWebhook): JsonObject | undefined => {
  const webhook = webhookOf(configuration);
  if (webhook === undefined) return undefined;
  const before = asObject(webhook["clientConfig"]);
  const client = clientConfig(before, wanted);
  if (equal(client, before) && equal(wanted.rules, objects(webhook["rules"]))) return undefined;
  const { resourceVersion } = configuration.metadata;
  return {
    ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
    webhooks: [{ name: WEBHOOK_NAME, clientConfig: client, rules: wanted.rules }],
  };
};

/** The path with the part that only the API server is told. */
export const webhookPath = (secret: string): string => `${WEBHOOK_PATH}/${secret}`;
