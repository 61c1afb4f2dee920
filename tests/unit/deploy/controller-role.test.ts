import { ControllerRole, ImpersonationRoles, render, TransactionRoles } from "@janus/deploy";
import { describe, expect, it } from "vitest";
import { rightsIn, rulesOf } from "../../deploy/permissions.ts";

const rulesIn = (build: Parameters<typeof render>[0]) => rulesOf(render(build));

const controller = rulesIn((chart) => new ControllerRole(chart, "Role"));
const users = rulesIn((chart) => new TransactionRoles(chart, "Roles"));
const rights = rightsIn(controller);

describe("the controller's ClusterRole", () => {
  it("says in every rule which resources and which verbs, never a wildcard", () => {
    for (const { apiGroups, resources, verbs } of [...controller, ...users]) {
      for (const words of [apiGroups, resources, verbs]) {
        expect(words).not.toHaveLength(0);
        expect(words).not.toContain("*");
      }
    }
  });

  it("touches nothing but these resources: no workload, no RBAC, no admission", () => {
    expect(new Set(rights.map((right) => right.split(" ")[1]))).toEqual(
      new Set([
        "transactions.backup.janus.io",
        "transactions/status.backup.janus.io",
        "leases.coordination.k8s.io",
        "configmaps",
        "secrets",
        "events",
        "namespaces",
        "serviceaccounts",
        "userextras/janus.io/fence.authentication.k8s.io",
      ]),
    );
  });

  it("never looks through Secrets, only at one that it can name", () => {
    expect(rights.filter((right) => right.endsWith(" secrets"))).toEqual(
      ["get", "create", "patch", "delete"].map((verb) => `${verb} secrets`),
    );
  });

  it("impersonates ServiceAccounts and nobody else, with a token of its term and nothing else", () => {
    expect(rights.filter((right) => right.startsWith("impersonate"))).toEqual([
      "impersonate userextras/janus.io/fence.authentication.k8s.io",
      "impersonate serviceaccounts",
    ]);
  });

  it("makes no Transactions: they are the users'", () => {
    expect(rights).not.toContain("create transactions.backup.janus.io");
  });
});

describe("the controller that acts as certain ServiceAccounts only", () => {
  const actsAs = [
    { namespace: "shop", serviceAccounts: ["deployer", "db"] },
    { namespace: "web" },
    { namespace: "janus-system", serviceAccounts: ["other"] },
  ];
  const roles = render((chart) => new ImpersonationRoles(chart, "Roles", { actsAs }));

  it("has no right to act as others", () => {
    const narrowed = rightsIn(rulesIn((chart) => new ControllerRole(chart, "Role", { actsAs })));
    expect(narrowed).not.toContain("impersonate serviceaccounts");
    expect([...narrowed, "impersonate serviceaccounts"]).toEqual(rights);
  });

  it("has it for these, in their namespaces, and for itself, to try the fence", () => {
    const given = roles
      .filter(({ kind }) => kind === "Role")
      .map(({ metadata, rules }) => [
        metadata.namespace,
        (rules as readonly { readonly resourceNames?: readonly string[] }[]).map((rule) => rule.resourceNames),
      ]);
    expect(given).toEqual([
      ["janus-system", [["janus-controller"], ["other"]]],
      ["shop", [["deployer", "db"]]],
      ["web", [undefined]],
    ]);
  });

  it("is bound to each of these Roles", () => {
    const subjects = [{ kind: "ServiceAccount", name: "janus-controller", namespace: "janus-system" }];
    const bindings = roles.filter(({ kind }) => kind === "RoleBinding");
    expect(bindings.map(({ metadata }) => metadata.namespace)).toEqual(["janus-system", "shop", "web"]);
    for (const binding of bindings) expect(binding).toMatchObject({ subjects });
  });

  it("is not given all of a namespace by an empty list of names", () => {
    const none = [{ namespace: "shop", serviceAccounts: [] }];
    expect(() => render((chart) => new ImpersonationRoles(chart, "Roles", { actsAs: none }))).toThrow("actsAs");
  });
});

describe("the roles for users", () => {
  it("let nobody write the status", () => {
    expect(rightsIn(users).filter((right) => right.includes("transactions/status"))).toEqual(
      ["get", "list", "watch"].map((verb) => `${verb} transactions/status.backup.janus.io`),
    );
  });
});
