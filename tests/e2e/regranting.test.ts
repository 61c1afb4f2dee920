import { expect, it, onTestFinished } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching, updating } from "../fixtures/changes.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  role,
  roleBinding,
  serviceAccount,
} from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

it.each([
  ["a ServiceAccount that has nothing to do with it", creating(serviceAccount("helper"))],
  ["a ConfigMap", creating(configMap("other"))],
])(
  "refuses a change of a Role that its rollback could not grant again, also after the creation of %s",
  async (_, first) => {
    const place = await workspace();
    const rule = { apiGroups: ["nobody.example.com"], resources: ["things"], verbs: ["get"] };
    await place.create(role("victim", rule));
    await place.janus(async (request, next) => {
      if (isChangeOf("last")(request)) await place.create(configMap("last"));
      return next(request);
    });
    const { status } = await place.run([first, updating(role("victim")), creating(configMap("last"))]);
    expect(status.phase).toBe("Failed");
    expect(status.items[1]?.error).toContain("contains permissions that the ServiceAccount does not have");
    expect((await place.read(role("victim")))["rules"]).toEqual([rule]);
  },
);

const nobodys = { apiGroups: ["nobody.example.com"], resources: ["things"], verbs: ["get"] };
const { rules: _, ...withoutRules } = role("victim");

it.each([
  ["an Update that leaves its rules out", updating(withoutRules)],
  ["an Update that sets its rules to null", updating({ ...withoutRules, rules: null })],
  ["a Patch that sets its rules to null", patching({ ...withoutRules, rules: null })],
])("refuses what takes the rules of a Role that the rollback could not grant again: %s", async (_, change) => {
  const place = await workspace();
  await place.create(role("victim", nobodys));
  await place.janus();
  const { status } = await place.run([change, creating(configMap("last"))]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("contains permissions that the ServiceAccount does not have");
  expect((await place.read(role("victim")))["rules"]).toEqual([nobodys]);
});

it("does not delete a Role that it could not create again, since others have added to it after the checks", async () => {
  const place = await workspace();
  const held = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] };
  await place.create(role("victim", held));
  let isAdded = false;
  await place.janus(async (request, next) => {
    if (isChangeOf("victim")(request) && !isAdded) {
      isAdded = true;
      await place.patch(role("victim", held, nobodys));
    }
    return next(request);
  });
  const { status } = await place.run([deleting(role("victim")), creating(configMap("last"))]);
  expect(status.phase).toBe("RolledBack");
  expect(status.conditions.find(({ type }) => type === "Ready")?.message).toContain(
    "permissions that the ServiceAccount does not have",
  );
  expect((await place.read(role("victim")))["rules"]).toEqual([held, nobodys]);
});

it("does not make a change of a Role that its rollback could not grant again where an earlier change brings the permission to edit it", async () => {
  const place = await workspace();
  const rbac = "rbac.authorization.k8s.io";
  const rule = { apiGroups: ["nobody.example.com"], resources: ["things"], verbs: ["get"] };
  await place.create(
    role("victim", rule),
    role("edit-roles", { apiGroups: [rbac], resources: ["roles"], verbs: ["get", "patch", "update"] }),
    role("binds", { apiGroups: [rbac], resources: ["roles"], verbs: ["bind", "get"] }),
    role(
      "limited",
      { apiGroups: [rbac], resources: ["rolebindings"], verbs: ["get", "create", "delete"] },
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "delete"] },
    ),
    { ...roleBinding("binds", "Role", "binds", `${place.namespace}/deployer`) },
    { ...roleBinding("limited", "Role", "limited", `${place.namespace}/deployer`) },
  );
  await place.remove(roleBinding("deployer", "ClusterRole", "admin", `${place.namespace}/deployer`));
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last"));
    return next(request);
  });
  const changes = [
    creating(roleBinding("edits", "Role", "edit-roles", `${place.namespace}/deployer`)),
    updating(role("victim")),
    creating(configMap("last")),
  ];
  // It is given half a minute for what was granted to be effective.
  const { status } = await place.run(changes, { timeout: "20s" });
  expect(status.phase).toBe("RolledBack");
  expect((await place.read(role("victim")))["rules"]).toEqual([rule]);
});

it.each([
  [
    "a ClusterRole that collects others",
    (name: string): Manifest => ({
      ...clusterRole(name),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [name]: "yes" } }] },
    }),
  ],
  [
    "a binding of a role that does not exist",
    (name: string): Manifest => clusterRoleBinding(name, "gone", `${name}/deployer`),
  ],
])("refuses the deletion of %s, which the ServiceAccount could not create again", async (_, target) => {
  const place = await workspace();
  const { namespace } = place;
  const rbac = { apiGroups: ["rbac.authorization.k8s.io"], verbs: ["get", "create", "update", "delete"] };
  const editor = clusterRole(`${namespace}-editor`, { ...rbac, resources: ["clusterroles", "clusterrolebindings"] });
  await place.create(editor, clusterRoleBinding(`${namespace}-editor`, editor.metadata.name, `${namespace}/deployer`));
  await place.create(target(namespace));
  onTestFinished(async () => {
    await place.remove(target(namespace));
    await place.remove(editor);
  });
  await place.janus();
  const { status } = await place.run([deleting(target(namespace))]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("contains permissions that the ServiceAccount does not have");
  expect(await place.exists(target(namespace))).toBe(true);
});
