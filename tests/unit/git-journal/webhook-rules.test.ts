// Tests that the webhook is called for what is selected only, and that nothing else of its configuration is touched.
import type { JsonObject, KubeObject } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WEBHOOK_NAME } from "../../../packages/git-journal/src/api/names.ts";
import {
  ALL_RULES,
  calledHost,
  configurationPatch,
  rulesFor,
  trustedBundle,
  type WatchedResource,
} from "../../../packages/git-journal/src/core/webhook-rules.ts";

const resource = (group: string, plural: string, version = "v1", namespaced = true): WatchedResource => ({
  group,
  version,
  plural,
  namespaced,
});
const CONFIG_MAPS = resource("", "configmaps");
const DEPLOYMENTS = resource("apps", "deployments");

const SERVICE = { service: { namespace: "janus-system", name: "webhook", port: 443 } };
const OTHER = { name: "other.example.com", clientConfig: { url: "https://other.example.com/" }, rules: [] };

/** As it is installed: the leader adds rules, CA and path. */
const installed = (clientConfig: JsonObject = SERVICE): KubeObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "janus-git-journal", resourceVersion: "7" },
  webhooks: [OTHER, { name: WEBHOOK_NAME, clientConfig, failurePolicy: "Ignore" }],
});

const wanted = { rules: rulesFor([CONFIG_MAPS]), trusted: "CA\n", path: "/process-validating-webhook/x" };

/** As the API server does with a strategic merge patch. */
const patched = (configuration: KubeObject, patch: JsonObject): KubeObject => {
  const [change] = patch["webhooks"] as readonly JsonObject[];
  const webhooks = (configuration["webhooks"] as readonly JsonObject[]).map((one) =>
    one["name"] === change?.["name"] ? { ...one, ...change } : one,
  );
  return { ...configuration, webhooks };
};

describe("the rules", () => {
  it("are those of the selected resources and their scales, in the version that is written", () => {
    const operations = ["CREATE", "UPDATE", "DELETE"];
    expect(
      rulesFor([
        DEPLOYMENTS,
        resource("", "secrets"),
        CONFIG_MAPS,
        CONFIG_MAPS,
        resource("storage.k8s.io", "storageclasses", "v1", false),
      ]),
    ).toEqual([
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations,
        resources: ["configmaps", "secrets", "*/scale"],
        scope: "Namespaced",
      },
      {
        apiGroups: ["apps"],
        apiVersions: ["v1"],
        operations,
        resources: ["deployments", "*/scale"],
        scope: "Namespaced",
      },
      {
        apiGroups: ["storage.k8s.io"],
        apiVersions: ["v1"],
        operations,
        resources: ["storageclasses", "*/scale"],
        scope: "Cluster",
      },
    ]);
    expect(rulesFor([])).toEqual([]);
  });

  it("are the same in whatever order, and how often, resources are selected", () => {
    const any = fc.record({
      group: fc.constantFrom("", "apps", "batch"),
      version: fc.constantFrom("v1", "v2"),
      plural: fc.constantFrom("a", "b", "c"),
      namespaced: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(any), fc.array(fc.nat()), (resources, keys) => {
        const shuffled = resources
          .map((one, at) => ({ one, key: keys[at] ?? 0 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ one }) => one);
        expect(rulesFor([...shuffled, ...resources])).toEqual(rulesFor(resources));
      }),
    );
  });
});

describe("the configuration", () => {
  it.each([
    [SERVICE, "webhook.janus-system.svc"],
    [{ url: "https://127.0.0.1:9443/process-validating-webhook" }, "127.0.0.1"],
    [{ url: "https://[::1]:9443" }, "::1"],
  ])("%j is called by %s", (client, host) => {
    expect(calledHost(installed(client))).toBe(host);
  });

  it.each<readonly [string, KubeObject]>([
    ["no webhook of ours", { ...installed(), webhooks: [OTHER] }],
    ["no webhooks", { ...installed(), webhooks: 3 }],
    ["nothing to call", installed({ url: "::" })],
  ])("with %s is called by no host", (_, configuration) => {
    expect(calledHost(configuration)).toBeUndefined();
  });
});

describe("the patch", () => {
  it("has rules, CA and path, and is on the version that was read", () => {
    expect(configurationPatch(installed(), wanted)).toEqual({
      metadata: { resourceVersion: "7" },
      webhooks: [
        {
          name: WEBHOOK_NAME,
          clientConfig: {
            caBundle: Buffer.from("CA\n").toString("base64"),
            service: { namespace: "janus-system", name: "webhook", port: 443, path: wanted.path },
          },
          rules: rulesFor([CONFIG_MAPS]),
        },
      ],
    });
  });

  it.each([[SERVICE], [{ url: "https://127.0.0.1:9443/process-validating-webhook" }]])(
    "of %j leaves nothing to patch, touches no other webhook, and what is trusted can be read back",
    (client) => {
      const configuration = installed(client);
      const after = patched(configuration, configurationPatch(configuration, wanted) ?? {});
      expect(configurationPatch(after, wanted)).toBeUndefined();
      expect(trustedBundle(after)).toBe("CA\n");
      expect(after["webhooks"]).toMatchObject([OTHER, { failurePolicy: "Ignore" }]);
    },
  );

  it("of one that is called by a URL has the path in it", () => {
    const patch = configurationPatch(installed({ url: "https://127.0.0.1:9443/" }), wanted);
    expect(patch?.["webhooks"]).toMatchObject([{ clientConfig: { url: `https://127.0.0.1:9443${wanted.path}` } }]);
  });

  it("widens and narrows the rules", () => {
    const configuration = installed();
    const after = patched(configuration, configurationPatch(configuration, { ...wanted, rules: ALL_RULES }) ?? {});
    expect(configurationPatch(after, wanted)?.["webhooks"]).toMatchObject([{ rules: rulesFor([CONFIG_MAPS]) }]);
  });

  it("leaves the CA to whoever writes it", () => {
    const configuration = installed();
    const theirs = patched(configuration, configurationPatch(configuration, wanted) ?? {});
    const patch = configurationPatch(theirs, { ...wanted, trusted: undefined, rules: [] });
    expect(patch?.["webhooks"]).toMatchObject([{ clientConfig: { caBundle: Buffer.from("CA\n").toString("base64") } }]);
  });

  it("of a configuration without our webhook is none", () => {
    expect(configurationPatch({ ...installed(), webhooks: [OTHER] }, wanted)).toBeUndefined();
  });
});
