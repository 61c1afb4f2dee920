import { BlueprintUserRoles, render, yaml } from "@janus/deploy";
import { beforeAll, describe, expect, it } from "vitest";
import { kubectl, kubectlWith, userKubeconfig } from "../fixtures/cluster.ts";
import { install } from "./install.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const controller = "system:serviceaccount:janus-system:janus-controller";

/** What `kubectl auth can-i` says, `yes` or `no`; `question` is what comes after `can-i`. */
const can = async (user: string, question: string, namespace: string): Promise<string | undefined> => {
  const { stdout } = await kubectl("auth", "can-i", ...question.split(" "), "--as", user, "-n", namespace);
  return /^(yes|no)\b/.exec(stdout)?.[0];
};

const whoami = async (...as: readonly string[]) =>
  kubectlWith({ kubeconfig: await userKubeconfig(controller) }, "auth", "whoami", "-o", "json", ...as);

beforeAll(() => install());

describe("the controller, as itself", () => {
  it.each([
    "watch transactions.backup.janus.io --all-namespaces",
    "patch transactions.backup.janus.io --subresource=status",
    "create leases.coordination.k8s.io",
    "patch configmaps",
    "get secrets",
    "create events",
    "get namespaces",
    "impersonate serviceaccounts",
    "delete transactions.backup.janus.io",
  ])("can %s", async (question) => {
    expect(await can(controller, question, "default")).toBe("yes");
  });

  it.each([
    "list secrets",
    "watch secrets",
    "list configmaps",
    "list leases.coordination.k8s.io",
    "get pods",
    "create transactions.backup.janus.io",
    "get deployments.apps",
    "create pods",
    "create serviceaccounts --subresource=token",
    "impersonate users",
    "impersonate groups",
    "create clusterrolebindings.rbac.authorization.k8s.io",
    "escalate clusterroles.rbac.authorization.k8s.io",
    "get customresourcedefinitions.apiextensions.k8s.io",
  ])("cannot %s", async (question) => {
    expect(await can(controller, question, "default")).toBe("no");
  });
});

describe("the controller, in its own namespace", () => {
  it("marks the Pod of the leader, and makes none", async () => {
    expect(await can(controller, "patch pods", "janus-system")).toBe("yes");
    expect(await can(controller, "create pods", "janus-system")).toBe("no");
  });
});

describe("the controller, as somebody's ServiceAccount", () => {
  it("has the groups of that ServiceAccount without asking for them", async () => {
    const namespace = await freshNamespace();
    const { stdout } = await whoami("--as", `system:serviceaccount:${namespace}:default`);
    expect(JSON.parse(stdout)).toMatchObject({
      status: {
        userInfo: {
          username: `system:serviceaccount:${namespace}:default`,
          groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
        },
      },
    });
  });

  it("bears the token of its term", async () => {
    const as = ["--as", "system:serviceaccount:default:default", "--as-user-extra", "janus.io/fence=holder/1"];
    expect(JSON.parse((await whoami(...as)).stdout)).toMatchObject({
      status: { userInfo: { extra: { "janus.io/fence": ["holder/1"] } } },
    });
  });

  it("may ask what that ServiceAccount may do", async () => {
    const namespace = await freshNamespace();
    const as = ["--as", `system:serviceaccount:${namespace}:default`, "-n", namespace];
    const kubeconfig = await userKubeconfig(controller);
    const asked = await kubectlWith({ kubeconfig }, "auth", "can-i", "create", "configmaps", ...as);
    expect(asked).toMatchObject({ stdout: "no\n", stderr: "" });
  });

  it.each([
    [["--as", "admin"]],
    [["--as", "system:serviceaccount:default:default", "--as-group", "system:masters"]],
    [["--as", "system:serviceaccount:default:default", "--as-user-extra", "scopes=all"]],
  ])("cannot be anybody else: %s", async (as) => {
    const { code, stdout } = await whoami(...as);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  });
});

describe("people with the built-in roles", () => {
  it("make Transactions where they may edit; who may only view does not see what they set in Secrets", async () => {
    const namespace = await freshNamespace();
    const give = (role: string) =>
      kubectl("create", "rolebinding", role, "--clusterrole", role, "--user", `${role}-user`, "-n", namespace);
    await Promise.all(["view", "edit", "admin"].map(give));
    const verbs = ["get", "create", "delete"];
    const answers = (role: string) =>
      Promise.all(verbs.map((verb) => can(`${role}-user`, `${verb} transactions.backup.janus.io`, namespace)));
    // The controller manager aggregates the roles in its own time.
    await expect.poll(() => answers("edit")).toEqual(["yes", "yes", "yes"]);
    await expect.poll(() => answers("admin")).toEqual(["yes", "yes", "yes"]);
    expect(await answers("view")).toEqual(["no", "no", "no"]);
    expect(await can("admin-user", "update transactions.backup.janus.io --subresource=status", namespace)).toBe("no");
  });

  it("make ActionSets and Blueprints where they may edit, and do not see them where they may only view", async () => {
    const namespace = await freshNamespace();
    const roles = render((chart) => new BlueprintUserRoles(chart, "Roles"));
    const applied = await kubectlWith({ stdin: yaml(roles) }, "apply", "--server-side", "-f", "-");
    expect(applied).toMatchObject({ code: 0 });
    const give = (role: string) =>
      kubectl("create", "rolebinding", role, "--clusterrole", role, "--user", `${role}-user`, "-n", namespace);
    await Promise.all(["view", "edit", "admin"].map(give));
    const asked = ["create actionsets", "delete blueprints", "get profiles"];
    const answers = (role: string) =>
      Promise.all(asked.map((one) => can(`${role}-user`, `${one}.cr.kanister.io`, namespace)));
    await expect.poll(() => answers("edit")).toEqual(["yes", "yes", "yes"]);
    await expect.poll(() => answers("admin")).toEqual(["yes", "yes", "yes"]);
    expect(await answers("view")).toEqual(["no", "no", "no"]);
  });
});
