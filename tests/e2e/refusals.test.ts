import { CRD_NAME } from "@janus/api";
import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { applying, creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { gadgets } from "../fixtures/gadgets.ts";
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  lease,
  namespace,
  role,
  roleBinding,
  secret,
  service,
  within,
} from "../fixtures/manifests.ts";
import { forbidConfigMaps } from "../fixtures/quota.ts";
import { recording } from "../fixtures/recording.ts";
import { transaction, type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

/** What a user reads first: the message of `kubectl get txn -o wide`. */
const messageOf = ({ status }: Txn): string =>
  status.conditions.find(({ type }) => type === "Ready")?.message ?? "no message";

interface Refused {
  readonly txn: Txn;
  readonly message: string;
  readonly reason: string | undefined;
}

/**
 * Runs a Transaction that must be refused: it is Failed, tells it in events, leaves no lock, snapshot or finalizer behind, and
 * not one request was sent that could have changed a target.
 */
const refused = async (
  place: Workspace,
  changes: readonly WrittenChange[],
  spec: { readonly [field: string]: unknown } = {},
): Promise<Refused> => {
  const { hook, requests } = recording();
  await place.janus(hook);
  const txn = await place.run(changes, spec);
  expect(txn.status).toMatchObject({ phase: "Failed", progress: `0/${changes.length}` });
  expect(requests.filter(({ purpose }) => purpose === "change" || purpose === "restore")).toEqual([]);
  expect(await place.names("coordination.k8s.io/v1", "Lease")).toEqual([]);
  const left = [...(await place.names("v1", "ConfigMap")), ...(await place.names("v1", "Secret"))];
  expect(left.filter((name) => name.startsWith("janus-journal") || name === "txn-rollback-1")).toEqual([]);
  return { txn, message: messageOf(txn), reason: txn.status.conditions.find(({ type }) => type === "Stalled")?.reason };
};

/** Rights besides those of `admin`. */
const may = async ({ create, namespace }: Workspace, resource: string, ...verbs: readonly string[]): Promise<void> => {
  await create(
    role("some", { apiGroups: [""], resources: [resource], verbs }),
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "weak" } },
    roleBinding("some", "Role", "some", `${namespace}/weak`),
  );
};

it("refuses an unknown kind, and says how it could become known", async () => {
  const { message, txn } = await refused(await workspace(), [
    creating(configMap("fine")),
    creating({ apiVersion: "example.com/v1", kind: "Wombat", metadata: { name: "w" } }),
  ]);
  expect(message).toBe(
    "no changes were applied: changes[1]: the API server does not serve Wombat in example.com/v1: " +
      "correct the target, or apply what defines it first, in a Transaction of its own unless that is its CustomResourceDefinition",
  );
  expect(txn.status.items).toMatchObject([{}, { error: expect.stringContaining("does not serve Wombat") as string }]);
});

it("refuses a missing ServiceAccount, and says which", async () => {
  const place = await workspace();
  const { message } = await refused(place, [creating(configMap("fine"))], { serviceAccountName: "nobody" });
  expect(message).toBe(
    `no changes were applied: ServiceAccount nobody does not exist in ${place.namespace}: create it, then create the Transaction again`,
  );
});

it("refuses what the ServiceAccount may not read, in the API server's words", async () => {
  const place = await workspace();
  await may(place, "configmaps", "create", "delete");
  const { message } = await refused(place, [creating(configMap("fine"))], { serviceAccountName: "weak" });
  expect(message).toContain(
    `changes[0]: ConfigMap ${place.namespace}/fine cannot be read: configmaps "fine" is forbidden: ` +
      `User "system:serviceaccount:${place.namespace}:weak" cannot get resource "configmaps"`,
  );
});

it.each([
  ["Update", updating],
  ["Patch", patching],
  ["Delete", deleting],
] as const)(
  "refuses %s of what it may read only by an earlier change: nothing could keep what is there",
  async (_, as) => {
    const [place, other] = [await workspace(), await workspace()];
    const deployer = `${place.namespace}/deployer`;
    await other.create(
      role("configurer", { apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }),
      role("granter", {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["rolebindings", "roles"],
        verbs: ["get", "create", "delete", "bind"],
      }),
      roleBinding("granter", "Role", "granter", deployer),
      configMap("there", { a: "1" }),
    );
    const { message } = await refused(place, [
      creating(within(other.namespace, roleBinding("grant", "Role", "configurer", deployer))),
      as(within(other.namespace, configMap("there", { a: "2" }))),
    ]);
    expect(message).toContain(
      `changes[1]: ConfigMap ${other.namespace}/there cannot be read: configmaps "there" is forbidden`,
    );
  },
);

it("refuses what the ServiceAccount may not write, in the API server's words", async () => {
  const place = await workspace();
  await place.create(configMap("there"));
  await may(place, "configmaps", "get", "update");
  const { message } = await refused(place, [patching(configMap("there", { a: "1" }))], { serviceAccountName: "weak" });
  expect(message).toContain(
    `changes[0]: the API server refuses to patch ConfigMap ${place.namespace}/there: configmaps "there" is forbidden: ` +
      `User "system:serviceaccount:${place.namespace}:weak" cannot patch resource "configmaps"`,
  );
});

it.each([
  ["list", ["list"], "the verbs get, patch and update"],
  ["read", ["get"], "the verbs patch and update"],
  ["read and update", ["get", "update"], "the verb patch"],
] as const)("says at once all that a ServiceAccount lacks that may only %s", async (_, verbs, wanted) => {
  const place = await workspace();
  await place.create(configMap("there"));
  await may(place, "configmaps", ...verbs);
  const { message } = await refused(place, [patching(configMap("there", { a: "1" }))], { serviceAccountName: "weak" });
  expect(message).toContain(
    `ServiceAccount weak may not change ConfigMap ${place.namespace}/there, or roll it back: grant it ${wanted} on configmaps in namespace ${place.namespace}`,
  );
});

it.each([
  ["Create", "the verb delete", ["get", "create"], creating(configMap("new"))],
  ["Patch", "the verb update", ["get", "patch"], patching(configMap("there", { a: "1" }))],
  ["Delete", "the verbs create and update", ["get", "delete"], deleting(configMap("there"))],
] as const)(
  "refuses a %s that the ServiceAccount could not roll back for want of %s",
  async (_, wanted, verbs, change) => {
    const place = await workspace();
    await place.create(configMap("there"));
    await may(place, "configmaps", ...verbs);
    const { message } = await refused(place, [change], { serviceAccountName: "weak" });
    expect(message).toBe(
      `no changes were applied: changes[0]: ServiceAccount weak may not roll back ConfigMap ${place.namespace}/${change.target.name}: ` +
        `grant it ${wanted} on configmaps in namespace ${place.namespace}`,
    );
  },
);

it("refuses Patch, Update and Delete of missing objects, and names each", async () => {
  const place = await workspace();
  const { message, txn } = await refused(place, [
    patching(configMap("a", { a: "1" })),
    updating(configMap("b")),
    deleting(configMap("c")),
  ]);
  const missing = (index: number, name: string, advice: string) =>
    `changes[${index}]: ConfigMap ${place.namespace}/${name} not found: ${advice}`;
  expect(message).toBe(
    `no changes were applied: ${missing(0, "a", "use Create")}; ${missing(1, "b", "use Create")}; ${missing(2, "c", "remove this change")}`,
  );
  expect(txn.status.items.map(({ error }) => error)).toEqual([
    `ConfigMap ${place.namespace}/a not found: use Create`,
    `ConfigMap ${place.namespace}/b not found: use Create`,
    `ConfigMap ${place.namespace}/c not found: remove this change`,
  ]);
});

it("refuses a Create of what exists", async () => {
  const place = await workspace();
  await place.create(configMap("there", { whose: "somebody's" }));
  const { message } = await refused(place, [creating(configMap("there", { whose: "ours" }))]);
  expect(message).toContain(`changes[0]: ConfigMap ${place.namespace}/there exists already: use Update or Patch`);
  expect(await place.read(configMap("there"))).toMatchObject({ data: { whose: "somebody's" } });
});

it("lists everything that the API server refuses, not only the first", async () => {
  const place = await workspace();
  await place.create(service("there"));
  const { message, txn } = await refused(place, [
    creating({ ...service("bad-port"), spec: { ports: [{ port: 0 }] } }),
    creating(configMap("fine")),
    patching({ ...service("there"), spec: { clusterIP: "1.2.3.4" } }),
    creating({ ...configMap("Bad_Name") }),
  ]);
  expect(message).toMatch(
    /changes\[0\]: .*spec\.ports\[0\]\.port: Invalid value.*changes\[2\]: .*spec\.clusterIPs?\[0\]: Invalid value.*changes\[3\]: .*metadata\.name: Invalid value/,
  );
  expect(txn.status.items.map(({ error }) => error !== undefined)).toEqual([true, false, true, true]);
});

it("refuses a Patch that does not fit the kind, which the API server calls an error of its own", async () => {
  const place = await workspace();
  await place.create(configMap("there"));
  const { message } = await refused(place, [
    patching({ ...configMap("there"), immutable: "yes" }),
    patching({ ...configMap("there"), metadata: { name: "kube-root-ca.crt" }, colour: "blue" }),
  ]);
  expect(message).toContain("changes[0]: the API server refuses to patch");
  expect(message).toContain(".immutable: expected boolean, got");
  expect(message).toContain(".colour: field not declared in schema");
});

it("refuses a target that is being deleted, and says what it is waiting for", async () => {
  const place = await workspace();
  await place.create({ ...configMap("going"), metadata: { name: "going", finalizers: ["example.com/hold"] } });
  await place.remove(configMap("going"));
  const { message } = await refused(place, [patching(configMap("going", { a: "1" }))]);
  expect(message).toContain(
    `ConfigMap ${place.namespace}/going is being deleted: wait until it is gone, or remove its finalizers (example.com/hold)`,
  );
  await place.patch({ ...configMap("going"), metadata: { name: "going", finalizers: [] } });
});

it("refuses a target that takes time to end, and names no finalizers", async () => {
  const place = await workspace();
  const spec = { nodeName: "node-1", containers: [{ name: "web", image: "web" }] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "going" }, spec };
  await place.create(pod);
  await place.remove(pod);
  const { message } = await refused(place, [deleting(pod)]);
  expect(message).toMatch(/Pod \S+\/going is being deleted: wait until it is gone$/);
  await kubectl("delete", "pod", "going", "-n", place.namespace, "--grace-period=0", "--force");
});

it.each([
  ["what owns the Transaction", (owner: string) => [owner], [deleting(configMap("owner")), creating(configMap("new"))]],
  [
    "the last that owns the Transaction",
    (owner: string, other: string) => [owner, other],
    [deleting(configMap("other")), deleting(configMap("owner"))],
  ],
] as const)("refuses to delete %s: the Transaction would be deleted with it", async (_, owners, changes) => {
  const place = await workspace();
  const [owner, other] = (await place.create(configMap("owner"), configMap("other"))).map(({ metadata }) => metadata);
  const ownerReferences = owners(owner?.uid ?? "", other?.uid ?? "").map((uid) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: uid === owner?.uid ? "owner" : "other",
    uid,
  }));
  const { hook, requests } = recording();
  await place.janus(hook);
  const spec = { serviceAccountName: "deployer", changes };
  await place.create({ ...transaction("txn"), metadata: { name: "txn", ownerReferences }, spec });
  expect(messageOf(await place.over())).toContain(
    `ConfigMap ${place.namespace}/owner owns this Transaction, which would be deleted with it`,
  );
  expect(requests.filter(({ purpose }) => purpose === "change")).toEqual([]);
});

it("refuses a change that is meant for another version of its target", async () => {
  const place = await workspace();
  const [made] = await place.create(configMap("there"));
  const version = made?.metadata.resourceVersion ?? "";
  const { metadata } = await place.patch(configMap("there", { a: "1" }));
  const { message } = await refused(place, [updating(configMap("there", { a: "2" }), version)]);
  expect(message).toContain(
    `ConfigMap ${place.namespace}/there is at resourceVersion ${metadata.resourceVersion}, but the change requires ${version}`,
  );
});

it("refuses two changes of one target, also where one of them leaves the namespace to its default", async () => {
  const place = await workspace();
  const { message } = await refused(place, [
    creating(configMap("one")),
    creating(configMap("two")),
    creating(within(place.namespace, configMap("one"))),
  ]);
  expect(message).toBe(
    `no changes were applied: changes[2]: changes[0] and changes[2] have the same target ConfigMap ${place.namespace}/one: combine them into one change`,
  );
});

it("refuses to delete the Transaction's own namespace", async () => {
  const place = await workspace();
  const { message } = await refused(place, [deleting(namespace(place.namespace))]);
  expect(message).toContain(
    `changes[0]: the Transaction would delete its own namespace ${place.namespace}: create it in another namespace`,
  );
});

it("refuses to delete the kind of all Transactions, and with it themselves", async () => {
  const place = await workspace();
  const crd = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: CRD_NAME } };
  const { message } = await refused(place, [deleting(crd)]);
  expect(message).toContain(
    `changes[0]: the Transaction would delete ${CRD_NAME}, and with it all Transactions: uninstall`,
  );
});

it("refuses a deletion that cannot be undone anywhere but at the end", async () => {
  const place = await workspace();
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } };
  const { message } = await refused(place, [deleting(claim), creating(configMap("after"))]);
  expect(message).toBe(
    "no changes were applied: changes[0]: the deletion of a PersistentVolumeClaim cannot be undone: move it to the end of the list",
  );
});

it("refuses content whose namespace is not the one that the target defaults to", async () => {
  const place = await workspace();
  const { message } = await refused(place, [
    {
      type: "Create",
      target: { apiVersion: "v1", kind: "ConfigMap", name: "a" },
      content: within("other", configMap("a")),
    },
  ]);
  expect(message).toContain("content.metadata.namespace of ConfigMap");
  expect(message).toContain('is "other": remove it, or set target.namespace');
});

it("refuses when the name of its snapshot is taken by another client's object, which it neither trusts nor deletes", async () => {
  const place = await workspace();
  const somebodys = configMap("txn-rollback", { "item-0": "somebody's" });
  await place.create(somebodys, configMap("config", { a: "1" }));
  const { message } = await refused(place, [patching(configMap("config", { a: "2" }))]);
  expect(message).toBe(
    "no changes were applied: ConfigMap txn-rollback exists and does not belong to this Transaction: delete or rename it, then create the Transaction again",
  );
  expect(await place.read(somebodys)).toMatchObject({ data: { "item-0": "somebody's" } });
  expect(await place.read(configMap("config"))).toMatchObject({ data: { a: "1" } });
});

it("refuses a target in a namespace that does not exist", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const { message } = await refused(place, [creating(within("nowhere", configMap("new")))]);
  expect(message).toBe(
    'no changes were applied: changes[0]: ConfigMap nowhere/new: it cannot be locked: namespaces "nowhere" not found',
  );
});

it("locks nothing that the ServiceAccount could not roll back", async () => {
  const place = await workspace();
  const theirs = await workspace();
  await theirs.create(configMap("theirs"));
  const { hook, requests } = recording();
  await place.janus(hook);
  await place.run([patching(within(theirs.namespace, configMap("theirs", { a: "1" })))]);
  expect(requests.filter(({ purpose }) => purpose === "lock")).toEqual([]);
});

it("refuses what is so large that it could not keep its own status", async () => {
  const large = Array.from({ length: 3 }, (_, n) => creating(configMap(`large-${n}`, { text: "x".repeat(400_000) })));
  const { message } = await refused(await workspace(), large);
  expect(message).toMatch(
    /^no changes were applied: the Transaction is too large to keep its own status \(11\d\d of 1024 KiB\): put the contents of its largest changes into ConfigMaps or Secrets \(contentFrom\), as kubectl janus apply does, or split it into smaller Transactions; the largest are changes\[0\] \(ConfigMap large-0, 391 KiB\), changes\[1\] \(ConfigMap large-1, 391 KiB\), changes\[2\]/,
  );
});

it("refuses when it could keep no record of what it does, and says why", async () => {
  const place = await workspace();
  await forbidConfigMaps(place);
  const { message } = await refused(place, [creating(secret("new"))]);
  expect(message).toMatch(/^no changes were applied: the journal cannot be written: .* exceeded quota: few-configmaps/);
});

it("refuses when it could not keep what is there, and says why", async () => {
  const place = await workspace();
  await place.create(configMap("there"));
  await forbidConfigMaps(place);
  const { message } = await refused(place, [patching(configMap("there", { a: "1" }))]);
  expect(message).toMatch(
    /^no changes were applied: the snapshot ConfigMap txn-rollback cannot be written: .* exceeded quota/,
  );
});

const OF_JANUS = { "app.kubernetes.io/managed-by": "janus", "janus.io/transaction": "other" };

it.each<readonly [string, WrittenChange]>([
  ["itself", patching({ ...transaction("txn"), metadata: { name: "txn", labels: { a: "1" } } })],
  ["another one", deleting(transaction("other"))],
  ["a new one", creating({ ...transaction("new"), spec: { serviceAccountName: "deployer", changes: [] } })],
])("refuses a Transaction as a target: %s", async (_, change) => {
  const place = await workspace();
  const { message } = await refused(place, [change]);
  expect(message).toContain(
    "changes[0]: a Transaction cannot be a target: it would run again after a rollback; list its changes here instead",
  );
});

it.each([
  ["a lock", { ...lease("janus-lock-x"), metadata: { name: "janus-lock-x", labels: OF_JANUS } }],
  ["a journal", { ...configMap("janus-journal-x"), metadata: { name: "janus-journal-x", labels: OF_JANUS } }],
  ["a snapshot", { ...secret("other-rollback"), metadata: { name: "other-rollback", labels: OF_JANUS } }],
])("refuses objects of Janus itself as targets: %s", async (_, manifest) => {
  const place = await workspace();
  await place.create(manifest);
  await place.janus();
  const txn = await place.run([deleting(manifest)]);
  expect(txn.status.phase).toBe("Failed");
  expect(messageOf(txn)).toMatch(/changes\[0\]: \w+ \S+ belongs to Janus \(Transaction other\) and cannot be a target/);
});

it.each([
  ["Create", creating(configMap("txn-rollback")), /ConfigMap \S+\/txn-rollback has a name that snapshots/],
  ["Apply", applying(secret("txn-rollback-2")), /Secret \S+\/txn-rollback-2 has a name that snapshots/],
])("refuses a %s under the name of a snapshot of its own, which would be taken", async (_, change, told) => {
  const place = await workspace();
  await place.create(configMap("there"));
  const { message } = await refused(place, [patching(configMap("there", { a: "1" })), change]);
  expect(message).toMatch(told);
});

it("refuses a namespace on what is cluster-scoped", async () => {
  const place = await workspace();
  const { message } = await refused(place, [creating(within(place.namespace, namespace("inside")))]);
  expect(message).toContain("Namespace is cluster-scoped: remove target.namespace");
});

it("lets no bad Transaction disturb the others", async () => {
  const place = await workspace();
  await place.janus();
  await place.submit([creating({ apiVersion: "example.com/v1", kind: "Wombat", metadata: { name: "w" } })], {
    name: "bad-kind",
  });
  await place.submit([creating(configMap("x"))], { name: "bad-account", serviceAccountName: "nobody" });
  await place.submit([creating(configMap("a")), creating(secret("b"))], { name: "good" });
  await place.submit([deleting(configMap("missing"))], { name: "bad-target" });
  expect((await place.over("good")).status.phase).toBe("Committed");
  for (const bad of ["bad-kind", "bad-account", "bad-target"])
    expect((await place.over(bad)).status.phase).toBe("Failed");
  expect(await administrator.read(within(place.namespace, configMap("x")))).toBeUndefined();
});

it.each([
  ["authorization.k8s.io/v1", "SelfSubjectAccessReview", { spec: { resourceAttributes: { verb: "get" } } }],
  ["v1", "Binding", { target: { kind: "Node", name: "n" } }],
  ["v1", "ComponentStatus", {}],
])("refuses a kind whose objects the API server does not store: %s %s", async (apiVersion, kind, fields) => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const { message } = await refused(place, [creating({ apiVersion, kind, metadata: { name: "x" }, ...fields })]);
  expect(message).toContain(`changes[0]: ${kind} is not a stored kind, and cannot be rolled back: remove this change`);
});

it.each([
  ["Patch", patching],
  ["Update", updating],
])("refuses a %s of a status that is a subresource, which would be dropped silently", async (_, change) => {
  const place = await workspace();
  const web = service("web");
  await place.create(web);
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
  const { message } = await refused(place, [change({ ...web, status })]);
  expect(message).toContain(
    `the status of Service ${place.namespace}/web cannot be set, since it is a subresource: remove it from the content`,
  );
});

it("takes a status that says nothing, or what is there", async () => {
  const place = await workspace();
  await place.create(service("web"));
  await place.janus();
  const [apiVersion, kind] = ["v1", "Service"];
  const { status } = await place.run([
    patching({ apiVersion, kind, metadata: { name: "web", labels: { a: "1" } }, status: { loadBalancer: {} } }),
    creating({ ...service("new"), status: { loadBalancer: {}, conditions: null } }),
  ]);
  expect(status.phase).toBe("Committed");
});

it.each([
  ["resourceVersion", "would not be compared: remove it, or set the resourceVersion of the change"],
  ["uid", "and content.metadata.uid does not match"],
])("refuses content that is meant for another object or version: %s", async (field, told) => {
  const place = await workspace();
  await place.create(configMap("there"));
  const metadata = { name: "there", [field]: "1" };
  const { message } = await refused(place, [patching({ ...configMap("there", { a: "2" }), metadata })]);
  expect(message).toContain(told);
});

it("refuses a new version of a kind in which objects are stored anywhere but at the end", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const crd = gadgets(place.namespace);
  await administrator.create(crd);
  onTestFinished(() => administrator.remove(crd));
  const spec = crd["spec"] as { readonly versions: readonly object[] };
  const [v1] = spec.versions;
  const versions = [
    { ...v1, storage: false },
    { ...v1, name: "v2", storage: true },
  ];
  const { message } = await refused(place, [
    patching({ ...crd, spec: { ...spec, versions } }),
    creating(configMap("later")),
  ]);
  expect(message).toContain(
    `CustomResourceDefinition ${crd.metadata.name} stores its objects in the new version v2, which cannot be undone: move it to the end of the list`,
  );
});

const things = { apiGroups: ["example.com"], resources: ["things"], verbs: ["get"] };

it.each([
  ["a deletion", deleting(role("strong"))],
  ["a Patch of its rules", patching(role("strong", { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }))],
  ["an Update without its rules", updating(role("strong"))],
])("refuses to remove permissions that it could not grant again: %s", async (_, change) => {
  const place = await workspace();
  await place.create(role("strong", things));
  const { message } = await refused(place, [change]);
  expect(message).toContain(
    `cannot roll back Role ${place.namespace}/strong: it contains permissions that the ServiceAccount does not have: grant it these, or the verb escalate on roles`,
  );
});

it("refuses to delete a binding that it could not make again", async () => {
  const place = await workspace();
  await place.create(role("strong", things), roleBinding("bound", "Role", "strong", `${place.namespace}/default`));
  const { message } = await refused(place, [deleting(roleBinding("bound", "Role", "strong"))]);
  expect(message).toContain("grant it these, or the verb bind on rolebindings");
});

it.each([
  ["ValidatingAdmissionPolicy", "paramKind"],
  ["ValidatingAdmissionPolicyBinding", "paramRef"],
])("refuses to delete a %s that it could not create again", async (kind, field) => {
  const place = await workspace();
  const apiGroups = ["admissionregistration.k8s.io"];
  const name = place.namespace;
  const resources = ["validatingadmissionpolicies", "validatingadmissionpolicybindings"];
  const policy: Manifest = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      paramKind: { apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
      matchConstraints: {
        resourceRules: [
          { apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] },
        ],
      },
      validations: [{ expression: "true" }],
    },
  };
  const binding: Manifest = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ["Deny"],
      paramRef: { name: "limits", namespace: "default", parameterNotFoundAction: "Allow" },
    },
  };
  const made = [
    clusterRole(name, { apiGroups, resources, verbs: ["*"] }),
    clusterRoleBinding(name, name, `${name}/deployer`),
    policy,
    binding,
  ];
  await place.create(...made);
  onTestFinished(async () => {
    for (const one of made.toReversed()) await administrator.remove(one);
  });
  const target = kind === "ValidatingAdmissionPolicy" ? policy : binding;
  const { message } = await refused(place, [deleting(target)]);
  expect(message).toContain(
    `cannot roll back ${kind} ${name}: it names parameters in spec.${field} that the ServiceAccount cannot read: grant it the verb get on these`,
  );
});
