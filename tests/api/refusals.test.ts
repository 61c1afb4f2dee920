import { beforeAll, describe, expect, it } from "vitest";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { installCrd, transaction } from "./transactions.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const target = { apiVersion: "v1", kind: "ConfigMap", name: "app-config", namespace: "shop" };
const patch = { type: "Patch", target, content: { data: { version: "2.0" } } };
const web = { kind: "Deployment", name: "web", namespace: "shop" };
const spec = { serviceAccountName: "deploy-sa", changes: [patch] };
const changing = (...changes: readonly object[]) => ({ ...spec, changes });
const withContent = (content: object) => changing({ ...patch, content });

const badDuration = (field: string, value: string): string =>
  `spec.${field}: Invalid value: "${value}": must be a duration of at least 1s in units of h, m, s or ms, such as 5m, 1h30m or 1.5s`;
const twice =
  "spec.changes: Invalid value: two changes have the same target (group, kind, namespace and name): make them one change; a Delete and a Create of one object are type Replace";

const refusals: readonly (readonly [string, object, string])[] = [
  ["a lockTimeout that is no duration", { ...spec, lockTimeout: "5 minutes" }, badDuration("lockTimeout", "5 minutes")],
  ["a lockTimeout below 1s", { ...spec, lockTimeout: "999ms" }, badDuration("lockTimeout", "999ms")],
  ["a timeout of a unit that is not there", { ...spec, timeout: "1d" }, badDuration("timeout", "1d")],
  ["a negative timeout", { ...spec, timeout: "-5m" }, badDuration("timeout", "-5m")],
  [
    "missing content",
    changing({ type: "Patch", target }),
    "spec.changes[0]: Invalid value: content is missing: a Create, Update, Apply or Replace needs the manifest, a Patch the fields to set",
  ],
  [
    "content and contentFrom",
    changing({ ...patch, contentFrom: { secretKeyRef: { name: "a", key: "b" } } }),
    "spec.changes[0]: Invalid value: content and contentFrom exclude each other: leave one of them out",
  ],
  [
    "superfluous content",
    changing(patch, { type: "Delete", target: { ...target, name: "old" }, content: {} }),
    "spec.changes[1]: Invalid value: content is not used by a Delete: remove it, or change the type",
  ],
  [
    "a resourceVersion of what is still to be created",
    changing({ ...patch, type: "Create", resourceVersion: "7" }),
    "spec.changes[0]: Invalid value: resourceVersion is of an object that exists: remove it from a Create, an Apply or a Replace, or change the type",
  ],
  [
    "an empty resourceVersion",
    changing({ ...patch, resourceVersion: "" }),
    'spec.changes[0].resourceVersion: Invalid value: "": resourceVersion must be a metadata.resourceVersion of the target; to change whatever version there is, leave it out',
  ],
  [
    "a target without a name",
    changing({ ...patch, target: { ...target, name: "" } }),
    'spec.changes[0].target.name: Invalid value: "": name must be the name of one object: not empty, not . or .., and without / and %',
  ],
  [
    "a target without a kind",
    changing({ ...patch, target: { ...target, kind: "" } }),
    'spec.changes[0].target.kind: Invalid value: "": kind must be written as in a manifest, such as ConfigMap',
  ],
  [
    "a target without an apiVersion",
    changing({ ...patch, target: { ...target, apiVersion: "" } }),
    'spec.changes[0].target.apiVersion: Invalid value: "": apiVersion must be group/version, such as apps/v1, or the bare version of the core group: v1',
  ],
  [
    "a target with an empty namespace",
    changing({ ...patch, target: { ...target, namespace: "" } }),
    `spec.changes[0].target.namespace: Invalid value: "": namespace must be the name of a namespace; to use the Transaction's own namespace, leave it out`,
  ],
  [
    "no ServiceAccount",
    { ...spec, serviceAccountName: "" },
    `spec.serviceAccountName: Invalid value: "": serviceAccountName must be the name of a ServiceAccount in the Transaction's namespace`,
  ],
  [
    "content of another apiVersion",
    withContent({ apiVersion: "v2" }),
    "spec.changes[0]: Invalid value: content.apiVersion contradicts target.apiVersion: make them the same, or leave content.apiVersion out",
  ],
  [
    "content of another kind",
    withContent({ kind: "Secret", data: { password: "aHVudGVyMg==" } }),
    "spec.changes[0]: Invalid value: content.kind contradicts target.kind: make them the same, or leave content.kind out",
  ],
  [
    "content of another name",
    withContent({ metadata: { name: "other" } }),
    "spec.changes[0]: Invalid value: content.metadata.name contradicts target.name: make them the same, or leave content.metadata.name out",
  ],
  [
    "content of another namespace",
    withContent({ metadata: { namespace: "other" } }),
    "spec.changes[0]: Invalid value: content.metadata.namespace contradicts target.namespace: make them the same, or leave content.metadata.namespace out",
  ],
  [
    "a generated name",
    withContent({ metadata: { generateName: "app-" } }),
    "spec.changes[0]: Invalid value: content.metadata.generateName cannot be used: a change needs the exact name of its target; remove it",
  ],
  ["one target twice", changing(patch, { ...patch, type: "Update" }), twice],
  [
    "one target twice, in two versions of its group",
    changing(
      { type: "Delete", target: { ...web, apiVersion: "apps/v1" } },
      { type: "Delete", target: { ...web, apiVersion: "apps/v1beta2" } },
    ),
    twice,
  ],
  ["no changes", changing(), "spec.changes: Invalid value: 0: spec.changes in body should have at least 1 items"],
];

const edits: readonly (readonly [string, object])[] = [
  ["timeout", { timeout: "31m" }],
  ["the ServiceAccount", { serviceAccountName: "admin-sa" }],
  ["what stands deep in a content", { changes: [{ ...patch, content: { data: { version: "2.1" } } }] }],
  ["the number of changes", { changes: [patch, { type: "Delete", target: { ...target, name: "more" } }] }],
];

describe("the API server", () => {
  let namespace = "";
  const create = (name: string, spec: object, ...flags: readonly string[]) =>
    kubectlWith({ stdin: JSON.stringify(transaction(namespace, name, spec)) }, "create", "-f", "-", ...flags);

  beforeAll(async () => {
    [namespace] = await Promise.all([freshNamespace(), installCrd()]);
    await create("deploy-v2", spec);
  });

  it.each(refusals)("refuses %s, and says what to do", async (_, spec, message) => {
    expect(await create("refused", spec, "--dry-run=server")).toEqual({
      code: 1,
      stdout: "",
      stderr: `The Transaction "refused" is invalid: ${message}\n`,
    });
  });

  it("refuses a field that there is not", async () => {
    const { stderr } = await create("refused", changing({ ...patch, retries: 5 }), "--dry-run=server");
    expect(stderr).toContain(`strict decoding error: unknown field "spec.changes[0].retries"`);
  });

  it.each(edits)("refuses to edit %s", async (_, spec) => {
    const edit = JSON.stringify({ spec });
    expect(await kubectl("patch", "txn", "deploy-v2", "-n", namespace, "--type=merge", "-p", edit)).toMatchObject({
      code: 1,
      stderr: `The Transaction "deploy-v2" is invalid: spec: Invalid value: spec cannot be changed once it is published: create a new Transaction instead\n`,
    });
  });

  it("lets labels and annotations be edited, and the same manifest be applied again", async () => {
    expect(await kubectl("label", "txn", "deploy-v2", "-n", namespace, "team=shop")).toMatchObject({ code: 0 });
    const again = { stdin: JSON.stringify(transaction(namespace, "deploy-v2", spec)) };
    expect(await kubectlWith(again, "apply", "--server-side", "--force-conflicts", "-f", "-")).toMatchObject({
      code: 0,
    });
  });
});
