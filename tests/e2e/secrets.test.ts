import { expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { creating, deleting, patching, updating } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { configMap, secret } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { type Running, type Workspace, workspace } from "../fixtures/workspace.ts";

const HIDDEN = ["hunter2-former", "hunter2-wanted"];
const inBase64 = HIDDEN.map((text) => btoa(text));

/** Everything of Janus that people can read without a right to read Secrets, except for specs, which they wrote. */
const readable = async ({ namespace }: Workspace, { log, stop, metrics }: Running): Promise<string> => {
  await stop();
  const list = (apiVersion: string, kind: string) => administrator.list({ apiVersion, kind }, namespace);
  const transactions = await list("backup.janus.io/v1alpha1", "Transaction");
  return JSON.stringify([
    await list("v1", "ConfigMap"),
    await list("v1", "Event"),
    await list("coordination.k8s.io/v1", "Lease"),
    transactions.map(({ metadata, status }) => ({ ...metadata, managedFields: [], status })),
    log,
    await metrics(),
  ]);
};

const expectNothingOf = (text: string): void => {
  for (const word of [...HIDDEN, ...inBase64]) expect(text).not.toContain(word);
};

it("shows nothing of a Secret that it commits", async () => {
  const place = await workspace();
  await place.create(secret("patched", { key: "hunter2-former" }), secret("updated", { key: "hunter2-former" }));
  await place.create(secret("deleted", { key: "hunter2-former" }));
  const running = await place.janus();
  const { status } = await place.run([
    creating(secret("created", { key: "hunter2-wanted" })),
    patching(secret("patched", { key: "hunter2-wanted" })),
    updating(secret("updated", { key: "hunter2-wanted" })),
    deleting(secret("deleted")),
  ]);
  expect(status.phase).toBe("Committed");
  expectNothingOf(await readable(place, running));
});

it("shows nothing of a Secret that it rolls back, and keeps its former state in a Secret", async () => {
  const place = await workspace();
  await place.create(secret("patched", { key: "hunter2-former" }), secret("deleted", { key: "hunter2-former" }));
  await allowOneService(place);
  const running = await place.janus();
  const { status } = await place.run([
    patching(secret("patched", { key: "hunter2-wanted" })),
    deleting(secret("deleted")),
    creating(secret("created", { key: "hunter2-wanted" })),
    ...oneTooMany,
  ]);
  expect(status.phase).toBe("RolledBack");
  expect(status.snapshots.map(({ kind }) => kind)).toEqual(["Secret"]);
  expect(await place.read(secret("deleted"))).toMatchObject({ data: { key: inBase64[0] } });
  expectNothingOf(await readable(place, running));
});

it.each([
  [
    "a Patch whose value has the wrong type",
    patching({ ...secret("there"), stringData: { key: { wrong: "hunter2-wanted" } } }),
  ],
  [
    "a Create whose value has the wrong type",
    creating({ ...secret("new"), data: { key: { wrong: "hunter2-wanted" } } }),
  ],
  ["a Patch with a field of the wrong type", patching({ ...secret("there"), immutable: "hunter2-wanted" })],
  ["a Create with a field of the wrong type", creating({ ...secret("new"), immutable: "hunter2-wanted" })],
  ["a Create whose value is no base64", creating({ ...secret("new"), data: { key: "hunter2-wanted" } })],
  [
    "an Update of what cannot be changed",
    updating({ ...secret("immutable", { key: "hunter2-wanted" }), immutable: true }),
  ],
])("shows nothing of a Secret that the API server refuses: %s", async (_, change) => {
  const place = await workspace();
  await place.create(secret("there", { key: "hunter2-former" }), {
    ...secret("immutable", { key: "hunter2-former" }),
    immutable: true,
  });
  const running = await place.janus();
  const { status } = await place.run([change]);
  expect(status).toMatchObject({ phase: "Failed", items: [{ error: expect.stringContaining("Secret") as string }] });
  expectNothingOf(await readable(place, running));
  expect((await eventsOf(place.namespace, "txn")).map(({ reason }) => reason)).toContain("PhaseTransition");
});

/** A policy for the Secrets of a namespace that says what was there, as careless ones do. */
const quoting = (namespace: string) => {
  const metadata = { name: `quotes-secrets-of-${namespace}` };
  const api = { apiVersion: "admissionregistration.k8s.io/v1" };
  return [
    {
      ...api,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
          resourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"], operations: ["UPDATE", "DELETE"] },
          ],
        },
        matchConditions: [{ name: "of-users", expression: "oldObject.metadata.name.startsWith('guarded')" }],
        validations: [
          {
            expression: "false",
            messageExpression: "'not while its key is user_' + string(oldObject.data.key) + ', ' + oldObject.type",
          },
        ],
      },
    },
    {
      ...api,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: metadata.name, validationActions: ["Deny"] },
    },
  ];
};

it.each([
  ["a Delete", deleting(secret("guarded"))],
  ["a Patch", patching(secret("guarded", { key: "hunter2-wanted" }))],
  ["an Update", updating(secret("guarded", { other: "hunter2-wanted" }))],
])("shows nothing of what was there where an admission policy that refuses %s quotes it", async (_, change) => {
  const place = await workspace();
  await place.create(secret("guarded", { key: "hunter2-former" }));
  for (const manifest of quoting(place.namespace)) {
    await administrator.create(manifest);
    onTestFinished(() => administrator.remove(manifest));
  }
  const labelling = ["label", "secret", "guarded", "a=b", "--dry-run=server", "-n", place.namespace];
  await expect.poll(async () => (await kubectl(...labelling)).stderr).toContain("not while");
  const running = await place.janus();
  const { status } = await place.run([change]);
  expect(status).toMatchObject({ phase: "Failed" });
  expect(JSON.stringify(status)).toContain(`ValidatingAdmissionPolicy 'quotes-secrets-of-${place.namespace}'`);
  expect(JSON.stringify(status)).toContain("the message is not shown, since it may quote values");
  expectNothingOf(await readable(place, running));
});

it("shows nothing of a sensitive kind of which a gate is not met", async () => {
  const place = await workspace({ sensitiveKinds: ["ConfigMap"] });
  await place.create(configMap("account", { password: "hunter2-former" }));
  const running = await place.janus();
  const { status } = await place.run([
    {
      ...patching(configMap("account", { pin: "hunter2-wanted" })),
      waitFor: ["jsonpath={.data.password}=hunter2-wanted", "cel=self.data.pin == 'hunter2-former'"],
      waitTimeout: "1s",
    },
  ]);
  expect(status).toMatchObject({ phase: "RolledBack" });
  expect(JSON.stringify(status)).toContain("has another value");
  await running.stop();
  expectNothingOf(JSON.stringify([status, await eventsOf(place.namespace, "txn"), running.log]));
});
