import { ControllerRole, render, TransactionRoles } from "@janus/deploy";
import { describe, expect, it } from "vitest";

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

const rulesOf = (build: Parameters<typeof render>[0]): readonly Rule[] =>
  render(build).flatMap((role) => role["rules"] as readonly Rule[]);

/** One line for each right: `verb resource.group`. */
const rightsOf = (rules: readonly Rule[]): readonly string[] =>
  rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}${group === "" ? "" : `.${group}`}`)),
    ),
  );

const controller = rulesOf((chart) => new ControllerRole(chart, "Role"));
const users = rulesOf((chart) => new TransactionRoles(chart, "Roles"));
const rights = rightsOf(controller);

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
        "transactions/finalizers.backup.janus.io",
        "leases.coordination.k8s.io",
        "configmaps",
        "secrets",
        "events",
        "events.events.k8s.io",
        "namespaces",
        "serviceaccounts",
        "userextras/janus.io/fence.authentication.k8s.io",
      ]),
    );
  });

  it("never looks through Secrets, only at one that it can name", () => {
    expect(rights.filter((right) => right.endsWith(" secrets"))).toEqual(
      ["get", "create", "update", "patch", "delete"].map((verb) => `${verb} secrets`),
    );
  });

  it("impersonates ServiceAccounts and nobody else, with a token of its term and nothing else", () => {
    expect(rights.filter((right) => right.startsWith("impersonate"))).toEqual([
      "impersonate serviceaccounts",
      "impersonate userextras/janus.io/fence.authentication.k8s.io",
    ]);
  });

  it("makes no Transactions: they are the users'", () => {
    expect(rights).not.toContain("create transactions.backup.janus.io");
  });
});

describe("the roles for users", () => {
  it("let nobody write the status", () => {
    expect(rightsOf(users).filter((right) => right.includes("transactions/status"))).toEqual(
      ["get", "list", "watch"].map((verb) => `${verb} transactions/status.backup.janus.io`),
    );
  });
});
