// Tests what doctor says of the webhook of the Git journal, and of objects that are not Ready.
import type { KubeObject } from "@janus/kube";
import { expect, it } from "vitest";
import { checkWebhook } from "../../../packages/cli/src/story/git-journal-installation.ts";
import { unready } from "../../../packages/cli/src/story/unready.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const LONG_AGO = "2026-01-01T00:00:00Z";
const JUST_NOW = "2026-01-01T00:59:30Z";

const configuration = (webhook: object): KubeObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "janus-git-journal" },
  webhooks: [{ name: "author.git-journal.janus.io", ...webhook }],
});
const service = { name: "janus-git-journal", namespace: "janus-system" };
const rules = [{ apiGroups: ["*"] }];
const slice = (...ready: readonly boolean[]): KubeObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "a" },
  endpoints: ready.map((one) => ({ conditions: { ready: one } })),
});
const whole = configuration({ clientConfig: { service, caBundle: "Q0E=" }, rules });

it.each<readonly [string, KubeObject | undefined, readonly KubeObject[] | undefined, boolean, string]>([
  ["is not there", undefined, [], false, "there is no ValidatingWebhookConfiguration janus-git-journal"],
  ["has no caBundle", configuration({ clientConfig: { service }, rules }), [], false, "it has no caBundle"],
  ["has no rules", configuration({ clientConfig: { service, caBundle: "Q0E=" } }), [], false, "it has no rules"],
  ["has neither yet", configuration({ clientConfig: { service } }), [], false, "no caBundle, and no rules"],
  ["has no Pod that answers", whole, [slice(false), slice()], false, "no Pod answers"],
  ["is called", whole, [slice(false, true)], true, "is called"],
  ["is called, and its Pods may not be looked at", whole, undefined, true, "is called"],
  [
    "is called at a URL",
    configuration({ clientConfig: { url: "https://x", caBundle: "Q0E=" }, rules }),
    [],
    true,
    "is",
  ],
])("the webhook %s", (_, object, slices, isFine, what) => {
  const finding = checkWebhook(object, slices, "janus-system");
  expect(finding).toMatchObject({ isFine, what: expect.stringContaining(what) as string });
  expect(finding.cure === undefined).toBe(isFine);
});

const destination = (name: string, ready?: object, creationTimestamp = LONG_AGO): KubeObject => ({
  apiVersion: "configbutler.ai/v1alpha1",
  kind: "GitDestination",
  metadata: { namespace: "shop", name, creationTimestamp },
  ...(ready === undefined
    ? {}
    : { status: { conditions: [{ type: "Ready", lastTransitionTime: LONG_AGO, ...ready }] } }),
});

it("says nothing of objects that are Ready, or are just being looked at", () => {
  const all = [
    destination("a", { status: "True", reason: "Ready", message: "" }),
    destination("b", undefined, JUST_NOW),
    destination("c", { status: "Unknown", reason: "Checking", message: "", lastTransitionTime: JUST_NOW }),
  ];
  expect(unready(all, NOW)).toEqual([]);
});

it("says why others are not, and which nobody has looked at", () => {
  const all = [
    destination("refused", { status: "False", reason: "PushRefused", message: "it says \u001b[2Jno" }),
    destination("slow", { status: "Unknown", reason: "Checking", message: "cloning" }),
    destination("unseen"),
  ];
  expect(unready(all, NOW).map(({ isFine, what }) => [isFine, what])).toEqual([
    [false, "GitDestination shop/refused: PushRefused: it says \\u001b[2Jno"],
    [false, "GitDestination shop/slow: Checking: cloning"],
    [false, "GitDestination shop/unseen: nobody has looked at it"],
  ]);
});

it("names ten, and says how many more there are", () => {
  const all = Array.from({ length: 12 }, (_, n) => destination(`d${n}`));
  expect(unready(all, NOW).map(({ what }) => what)).toHaveLength(11);
  expect(unready(all, NOW).at(-1)?.what).toBe("2 more objects of the Git journal are not Ready");
});
