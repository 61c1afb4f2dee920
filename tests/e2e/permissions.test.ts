import { Change, type ChangeOptions, Transaction, TransactionPermissions, type TransactionProps } from "@janus/cdk8s";
import { ApiObject, Chart, Testing } from "cdk8s";
import * as E from "fp-ts/lib/Either.js";
import type { Hook } from "@janus/kube";
import { describe, expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { configMap, deployment, namespace, role, roleBinding, within } from "../fixtures/manifests.ts";
import { podsOf } from "../fixtures/pods.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** One verb of one rule. */
interface Right {
  readonly rule: PolicyRule;
  readonly verb: string;
}

/** A Transaction as it is written with cdk8s, and what goes before it. */
const written = (
  place: Workspace,
  name: string,
  changesIn: (chart: Chart) => readonly Change[],
  options: Partial<TransactionProps> = {},
) => {
  const app = Testing.app();
  const shop = new Chart(app, "shop", { namespace: place.namespace });
  const access = new Chart(app, `access-${place.namespace}-${name}`);
  const changes = changesIn(shop);
  const transaction = new Transaction(shop, "Release", {
    serviceAccount: name,
    metadata: { name },
    ...options,
    changes,
  });
  const permissions = new TransactionPermissions(access, "Permissions", { transaction });
  expect(permissions.node.path).toContain(name);
  return { transaction: transaction.manifest as unknown as Manifest, permissions: access.toJson() as Manifest[] };
};

const rulesOf = ({ rules }: Manifest): readonly PolicyRule[] => (rules ?? []) as readonly PolicyRule[];
const rightsOf = (permissions: readonly Manifest[]): readonly Right[] =>
  permissions.flatMap(rulesOf).flatMap((rule) => rule.verbs.map((verb) => ({ rule, verb })));
const show = ({ rule: { resources, resourceNames = ["*"] }, verb }: Right): string =>
  `${verb} ${resources.join()} ${resourceNames.map((name) => name.replace(/-\d+$/u, "")).join()}`;
const without = (permissions: readonly Manifest[], { rule, verb }: Right): readonly Manifest[] =>
  permissions.map((manifest) =>
    manifest["rules"] === undefined
      ? manifest
      : {
          ...manifest,
          rules: rulesOf(manifest)
            .map((one) => (one === rule ? { ...one, verbs: one.verbs.filter((other) => other !== verb) } : one))
            .filter(({ verbs }) => verbs.length > 0),
        },
  );

/** Grants them, and waits until the API server knows: RBAC takes a moment. */
const grant = async (place: Workspace, name: string, permissions: readonly Manifest[]): Promise<void> => {
  for (const manifest of permissions) {
    await administrator.apply(manifest);
    onTestFinished(() => administrator.remove(manifest));
  }
  const reviews = permissions.flatMap((manifest) =>
    rulesOf(manifest).flatMap(({ apiGroups, resources, verbs, resourceNames = [""] }) =>
      verbs.flatMap((verb) =>
        resourceNames.map((name) => ({
          namespace: manifest.metadata.namespace ?? "",
          group: apiGroups[0],
          resource: resources[0],
          verb,
          name,
        })),
      ),
    ),
  );
  const isAllowed = async (resourceAttributes: object): Promise<boolean> => {
    const review = await administrator.create({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: { user: `system:serviceaccount:${place.namespace}:${name}`, resourceAttributes },
    });
    return (review["status"] as { readonly allowed: boolean }).allowed;
  };
  for (const one of reviews) await expect.poll(() => isAllowed(one), { interval: 20 }).toBe(true);
};

const phaseOf = async (place: Workspace, name: string): Promise<string> => (await place.over(name)).status.phase;

interface Case {
  readonly title: string;
  readonly change: (object: ApiObject) => Change;
  readonly object: (place: Workspace, name: string) => Manifest;
  readonly exists: boolean;
  /** What an Apply needs only if its target is, or is not, there. */
  readonly spare: readonly string[];
}

const EDIT = { metadata: { labels: { edited: "yes" } } };
const map = (place: Workspace, name: string) => within(place.namespace, configMap(name, { a: "1" }));
const reader = (place: Workspace, name: string) =>
  within(place.namespace, role(name, { apiGroups: [""], resources: ["nodes"], verbs: ["get"] }));
const binding = (place: Workspace, name: string) =>
  within(place.namespace, roleBinding(name, "ClusterRole", "cluster-admin", `${place.namespace}/default`));
const other = (place: Workspace, name: string) => namespace(`${place.namespace}-${name}`);

const cases: readonly Case[] = [
  { title: "Create", change: (object) => Change.create(object), object: map, exists: false, spare: [] },
  { title: "Update", change: (object) => Change.update(object), object: map, exists: true, spare: [] },
  { title: "Patch", change: (object) => Change.patch(object, EDIT), object: map, exists: true, spare: [] },
  { title: "Delete", change: (object) => Change.delete(object), object: map, exists: true, spare: [] },
  {
    title: "Apply of what exists",
    change: (object) => Change.apply(object),
    object: map,
    exists: true,
    spare: ["create", "delete"],
  },
  {
    title: "Apply of what does not exist",
    change: (object) => Change.apply(object),
    object: map,
    exists: false,
    spare: ["patch", "update"],
  },
  { title: "Create of a Role", change: (object) => Change.create(object), object: reader, exists: false, spare: [] },
  {
    title: "Patch of a Role",
    change: (object) => Change.patch(object, EDIT),
    object: reader,
    exists: true,
    spare: [],
  },
  { title: "Delete of a Role", change: (object) => Change.delete(object), object: reader, exists: true, spare: [] },
  {
    title: "Apply of a RoleBinding that exists",
    change: (object) => {
      object.metadata.addLabel("edited", "yes");
      return Change.apply(object);
    },
    object: binding,
    exists: true,
    spare: ["create", "delete"],
  },
  {
    title: "Create of a RoleBinding",
    change: (object) => Change.create(object),
    object: binding,
    exists: false,
    spare: [],
  },
  {
    title: "Patch of a cluster-scoped object",
    change: (object) => Change.patch(object, EDIT),
    object: other,
    exists: true,
    spare: [],
  },
];

/** The object of a case, as a construct. */
const objectOf = (chart: Chart, { apiVersion, kind, metadata, ...rest }: Manifest): ApiObject =>
  new ApiObject(chart, "Object", { apiVersion, kind, metadata, ...rest });
const prepare = async ({ object, exists }: Case, here: Workspace, name: string): Promise<Manifest> => {
  const manifest = object(here, name);
  if (exists) await here.create(manifest);
  onTestFinished(() => administrator.remove(manifest));
  return manifest;
};
/** A gate that nothing ever meets. */
const NEVER: ChangeOptions = { waitFor: ["jsonpath={.data.never}=met"], waitTimeout: "1s" };

describe.each(cases)("the permissions of a Transaction with $title", (one) => {
  it("are enough to commit it, and to roll it back", async () => {
    const here = await workspace();
    const refused: string[] = [];
    const hook: Hook = async (request, next) => {
      const answer = await next(request);
      const isRefused = E.isLeft(answer) && answer.left.type === "refused" && answer.left.code === 403;
      // Which dependents a Delete takes along is only told, as far as the ServiceAccount may see them.
      if (isRefused && request.purpose !== "find-owned") refused.push(JSON.stringify(request));
      return answer;
    };
    await here.janus(hook);
    for (const [name, last, phase] of [
      ["commits-1", {}, "Committed"],
      ["rolls-back-2", NEVER, "RolledBack"],
    ] as const) {
      const manifest = await prepare(one, here, name);
      const { transaction, permissions } = written(here, name, (chart) => [
        one.change(objectOf(chart, manifest)),
        Change.create(objectOf(new Chart(chart, "last"), map(here, `last-${name}`)), last),
      ]);
      await grant(here, name, permissions);
      await administrator.create(transaction);
      expect((await here.over(name)).status).toMatchObject({ phase });
    }
    expect(refused).toEqual([]);
  });

  it("have no verb that it can do without", async () => {
    const here = await workspace();
    await here.janus();
    const make = (name: string, manifest: Manifest) =>
      written(here, name, (chart) => [one.change(objectOf(chart, manifest))]);
    const count = rightsOf(make("none", one.object(here, "none")).permissions).length;
    const results = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const name = `lacks-${index}`;
        const { transaction, permissions } = make(name, await prepare(one, here, name));
        const right = rightsOf(permissions)[index];
        if (right === undefined) throw new Error("no such right");
        await grant(here, name, without(permissions, right));
        await administrator.create(transaction);
        return [show(right), await phaseOf(here, name)] as const;
      }),
    );
    const needed = results.filter(([right]) => !one.spare.includes(right.split(" ")[0] ?? ""));
    expect(needed.length).toBeGreaterThan(1);
    expect(needed).toEqual(needed.map(([right]) => [right, "Failed"]));
    expect(results.filter((result) => !needed.includes(result)).map(([, phase]) => phase)).toEqual(
      one.spare.map(() => "Committed"),
    );
  });
});

it("has, for gates, the verbs to watch the target and to list its Pods, and they are used", async () => {
  const here = await workspace();
  const used = new Set<string>();
  await here.janus((request, next) => {
    if ("resource" in request && "as" in request) used.add(`${request.verb} ${request.resource.plural}`);
    return next(request);
  });
  await here.create(deployment("web", "web:1"));
  const { transaction, permissions } = written(
    here,
    "gated",
    () => [
      Change.patch({ apiVersion: "apps/v1", kind: "Deployment", name: "web" }, EDIT, {
        waitFor: ["ready"],
        waitTimeout: "3s",
      }),
    ],
    { rollbackWaitFor: [] },
  );
  await grant(here, "gated", permissions);
  await podsOf(here.namespace, "web", "web:1");
  await administrator.create(transaction);
  expect(await phaseOf(here, "gated")).toBe("RolledBack");
  expect(rightsOf(permissions).map(show)).toEqual([
    "get deployments web",
    "patch deployments web",
    "update deployments web",
    "list deployments *",
    "watch deployments *",
    "list pods *",
    "list events *",
  ]);
  // A watch begins where its list ends.
  expect([...used]).toEqual(expect.arrayContaining(["list deployments", "list pods", "list events"]));
});
