import { expect, it } from "vitest";
import { creating, updating } from "../fixtures/changes.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap, role, roleBinding, serviceAccount } from "../fixtures/manifests.ts";
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
    expect(status.items[1]?.error).toContain("contains permissions that it does not have");
    expect((await place.read(role("victim")))["rules"]).toEqual([rule]);
  },
);

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
  const { status } = await place.run(changes, { timeout: "5s" });
  expect(status.phase).toBe("RolledBack");
  expect((await place.read(role("victim")))["rules"]).toEqual([rule]);
});
