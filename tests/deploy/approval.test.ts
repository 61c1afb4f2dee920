import { transactions } from "@janus/api";
import { readFileSync } from "node:fs";
import path from "node:path";
import { render, UserStamps } from "@janus/deploy";
import { type Api, connect, loadConfig, type Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";

const PAGE = path.resolve(import.meta.dirname, "../../docs/approval.md");
const BY = {
  requestedBy: "backup.janus.io/requested-by",
  lastEditedBy: "backup.janus.io/last-edited-by",
  lifecycleChangedBy: "backup.janus.io/lifecycle-changed-by",
  approvedBy: "backup.janus.io/approved-by",
  rollbackRequestedBy: "backup.janus.io/rollback-requested-by",
} as const;
const REQUEST_ROLLBACK = "backup.janus.io/request-rollback";

/** The label of each namespace; undefined: none. */
const labels = { plain: undefined, required: "required", "four-eyes": "four-eyes", nonsense: "Four-Eyes" } as const;
type Namespace = keyof typeof labels;
const namespaces = Object.keys(labels) as readonly Namespace[];

/** The columns of the table: which user does it, and who created and last edited the Transaction. */
const subjects: Readonly<Record<string, { user: string; author: string; editor: string; roles: readonly string[] }>> = {
  author: { user: "ann", author: "ann", editor: "ed", roles: ["edit"] },
  "author with approve": { user: "anna", author: "anna", editor: "ed", roles: ["edit", "janus-transactions-approve"] },
  "last editor": { user: "ed", author: "ann", editor: "ed", roles: ["edit"] },
  "last editor with approve": {
    user: "eddie",
    author: "ann",
    editor: "eddie",
    roles: ["edit", "janus-transactions-approve"],
  },
  approver: { user: "bob", author: "ann", editor: "ed", roles: ["janus-transactions-approve"] },
  reader: { user: "rita", author: "ann", editor: "ed", roles: ["janus-transactions-view"] },
  controller: {
    user: "system:serviceaccount:janus-system:janus-controller",
    author: "ann",
    editor: "ed",
    roles: [],
  },
};

const spec = (lifecycle: string) => ({
  lifecycle,
  serviceAccountName: "deployer",
  changes: [
    { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "made" }, content: { data: { a: "b" } } },
  ],
});
type Annotations = Readonly<Record<string, string>>;
const transaction = (namespace: string, name: string, lifecycle: string, annotations: Annotations = {}) => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { namespace, name, annotations },
  spec: spec(lifecycle),
});

/** What is there before: a Transaction of each of these states, of each pair of author and last editor. */
const states = ["Draft", "Proposed", "Committing", "Committed"] as const;
type State = (typeof states)[number];

const nameOf = (state: State, author: string, editor: string) => `${state}-${author}-${editor}`.toLowerCase();

/** What a user sends to do what a row says. `stamped` are the names that a client writes where the cluster does not. */
type Doing = (
  at: { readonly namespace: string; readonly of: (state: State) => string },
  stamped: (...annotations: readonly string[]) => Annotations,
) => Request;

const creates =
  (lifecycle: string): Doing =>
  ({ namespace }, stamped) => ({
    verb: "create",
    resource: transactions,
    namespace,
    dryRun: true,
    body: transaction(
      namespace,
      "new",
      lifecycle,
      stamped(
        BY.requestedBy,
        BY.lastEditedBy,
        ...(lifecycle === "Published" && labels[namespace as Namespace] !== undefined ? [BY.approvedBy] : []),
      ),
    ),
  });
const patches =
  (state: State, spec: object, annotations: readonly string[] = [], more: Annotations = {}): Doing =>
  ({ namespace, of }, stamped) => ({
    verb: "mergePatch",
    resource: transactions,
    namespace,
    name: of(state),
    dryRun: true,
    body: { metadata: { annotations: { ...stamped(...annotations), ...more } }, spec },
  });

const rows: Readonly<Record<string, Doing>> = {
  "create as Draft": creates("Draft"),
  "create as Proposed": creates("Proposed"),
  "create as Published": creates("Published"),
  "edit a Draft": patches("Draft", { timeout: "7m" }, [BY.lastEditedBy]),
  "Draft → Proposed": patches("Draft", { lifecycle: "Proposed" }, [BY.lifecycleChangedBy]),
  "Draft → Published": patches("Draft", { lifecycle: "Published" }, [BY.lifecycleChangedBy, BY.approvedBy]),
  "Draft → Published with an edit": patches("Draft", { lifecycle: "Published", timeout: "7m" }, [
    BY.lastEditedBy,
    BY.lifecycleChangedBy,
    BY.approvedBy,
  ]),
  "edit a Proposed one": patches("Proposed", { timeout: "7m" }, [BY.lastEditedBy]),
  "Proposed → Draft": patches("Proposed", { lifecycle: "Draft" }, [BY.lifecycleChangedBy]),
  "Proposed → Published": patches("Proposed", { lifecycle: "Published" }, [BY.lifecycleChangedBy, BY.approvedBy]),
  "edit a Published one": patches("Committed", { timeout: "7m" }, [BY.lastEditedBy]),
  "Published → Draft": patches("Committed", { lifecycle: "Draft" }, [BY.lifecycleChangedBy]),
  "label or annotate it": patches("Proposed", {}, [], { "example.com/a": "b" }),
  "request the rollback of an active one": patches("Committing", {}, [BY.rollbackRequestedBy], {
    [REQUEST_ROLLBACK]: "now",
  }),
  "request the rollback of a Committed one": patches("Committed", {}, [BY.rollbackRequestedBy], {
    [REQUEST_ROLLBACK]: "now",
  }),
  "delete it": ({ namespace, of }) => ({
    verb: "delete",
    resource: transactions,
    namespace,
    name: of("Proposed"),
    dryRun: true,
  }),
};

/** The namespaces in which the words of a cell allow it. */
const allowing: Readonly<Record<string, readonly Namespace[]>> = {
  yes: namespaces,
  no: [],
  "without label": ["plain"],
  "not four-eyes": ["plain", "required", "nonsense"],
};

/** The table of the page: a row, a column, and what its cell says. */
const cells = ((): readonly (readonly [row: string, subject: string, cell: string])[] => {
  const section = readFileSync(PAGE, "utf8").split("\n## Who may do what\n")[1]?.split("\n## ")[0] ?? "";
  const [header = [], , ...body] = section
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  return body.flatMap(([row = "", ...said]) =>
    said.map((cell, column) => [row, header[column + 1] ?? "", cell] as const),
  );
})();

it("the table of docs/approval.md has every row and column that is tried here, and no other", () => {
  expect([...new Set(cells.map(([row]) => row))]).toEqual(Object.keys(rows));
  expect([...new Set(cells.map(([, subject]) => subject))]).toEqual(Object.keys(subjects));
  expect(cells.map(([, , cell]) => cell).filter((cell) => !(cell in allowing))).toEqual([]);
  expect(cells).toHaveLength(Object.keys(rows).length * Object.keys(subjects).length);
});

let cluster: OwnCluster;
const apis = new Map<string, Api & { close(): Promise<void> }>();
const as = (user: string): Api => {
  const api = apis.get(user);
  if (api === undefined) throw new Error(`there is no ${user}`);
  return api;
};
const meet = (user: string, kubeconfig: string): void => {
  const config = loadConfig({}, kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  apis.set(user, connect(config.right));
};
const succeed = async (user: string, request: Request): Promise<void> => {
  const answer = await as(user).send(request);
  if (E.isLeft(answer)) throw new Error(`${user}: ${JSON.stringify(answer.left)}`);
};

/** What a client writes of itself: nothing where the cluster does. */
const stampedBy =
  (user: string, isStamped: boolean) =>
  (...annotations: readonly string[]): Annotations =>
    isStamped ? {} : Object.fromEntries(annotations.map((annotation) => [annotation, user]));

beforeAll(async () => {
  cluster = await ownCluster();
  meet("admin", cluster.kubeconfig);
  const users = new Map(Object.values(subjects).map(({ user, roles }) => [user, roles]));
  await Promise.all([...users.keys()].map(async (user) => meet(user, await cluster.userKubeconfig(user))));
  for (const [namespace, label] of Object.entries(labels)) {
    await cluster.admin(`create namespace ${namespace}`);
    if (label !== undefined) await cluster.admin(`label namespace ${namespace} backup.janus.io/approval=${label}`);
    for (const [user, roles] of users)
      for (const role of roles)
        await cluster.admin(`create rolebinding ${user}-${role} -n ${namespace} --clusterrole=${role} --user=${user}`);
  }
  const nothing = { namespace: "four-eyes", of: () => "none" };
  const create = rows["create as Draft"]?.(nothing, () => ({}));
  if (create === undefined) throw new Error("there is no such row");
  for (const user of ["ann", "anna"]) await eventually(async () => E.isRight(await as(user).send(create)));
  const publish = { ...create, body: transaction("four-eyes", "new", "Published") } as Request;
  await eventually(async () => E.isLeft(await as("anna").send(publish)));
});
afterAll(async () => {
  await Promise.all([...apis.values()].map((api) => api.close()));
  await cluster.stop();
});

/** Makes what the rows need. Approved by nobody, since that is what is tried: an administrator publishes it before the label. */
const prepare = async (isStamped: boolean): Promise<void> => {
  const pairs = new Map(
    Object.values(subjects).map(({ author, editor }) => [`${author} ${editor}`, { author, editor }]),
  );
  for (const namespace of namespaces) {
    await cluster.admin(`delete transactions -n ${namespace} --all`);
    for (const { author, editor } of pairs.values())
      for (const state of states) {
        const name = nameOf(state, author, editor);
        const at = { resource: transactions, namespace, name };
        const body = transaction(
          namespace,
          name,
          "Draft",
          stampedBy(author, isStamped)(BY.requestedBy, BY.lastEditedBy),
        );
        await succeed(author, { verb: "create", resource: transactions, namespace, body });
        const edited = { annotations: stampedBy(editor, isStamped)(BY.lastEditedBy) };
        await succeed(editor, { verb: "mergePatch", ...at, body: { metadata: edited, spec: { timeout: "6m" } } });
        if (state === "Draft") continue;
        const lifecycle = state === "Proposed" ? "Proposed" : "Published";
        await succeed("admin", { verb: "mergePatch", ...at, body: { spec: { lifecycle } } });
        if (state === "Proposed") continue;
        const status = { phase: state, version: 1 };
        await succeed("admin", { verb: "mergePatch", ...at, subresource: "status", body: { status } });
      }
  }
};

/** In which namespaces the API server allows it, and what else it says than that it forbids it or that the object is not valid. */
const tried = async (row: string, subject: string, isStamped: boolean): Promise<readonly (string | undefined)[]> => {
  const who = subjects[subject];
  const doing = rows[row];
  if (who === undefined || doing === undefined) throw new Error(`nobody knows how "${subject}" does "${row}"`);
  const { user, author, editor } = who;
  const of = (state: State) => nameOf(state, author, editor);
  return (
    await Promise.all(
      namespaces.map(async (namespace) => {
        const answer = await as(user).send(doing({ namespace, of }, stampedBy(user, isStamped)));
        if (E.isRight(answer)) return [namespace];
        const { left } = answer;
        return left.type === "refused" && (left.code === 403 || left.code === 422) ? [] : [JSON.stringify(left)];
      }),
    )
  ).flat();
};

describe.each([
  ["that cannot stamp names", false],
  ["that stamps names", true],
] as const)("the API server of a cluster %s allows exactly what the table says", (_, isStamped) => {
  beforeAll(async () => {
    if (isStamped) {
      await cluster.install(...render((chart) => new UserStamps(chart, "Stamps")));
      const body = transaction("plain", "new", "Draft", { [BY.requestedBy]: "somebody else" });
      const create: Request = { verb: "create", resource: transactions, namespace: "plain", body, dryRun: true };
      await eventually(async () => E.isRight(await as("ann").send(create)));
    }
    await prepare(isStamped);
  });

  it.each(cells)("%s, as %s: %s", async (row, subject, cell) => {
    expect(await tried(row, subject, isStamped)).toEqual(allowing[cell]);
  });
});

/** How often the API server has stamped, or tried to. */
const stampings = async (): Promise<number> =>
  (await cluster.admin("get --raw /metrics"))
    .split("\n")
    .filter((line) => /^apiserver_mutating_admission_policy_check_total\{.*policy="janus-stamps"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);

it("a write that leaves spec and annotations as they are is not stamped, and needs no schema of Transactions for that", async () => {
  const at = { resource: transactions, namespace: "plain", name: nameOf("Draft", "ann", "ed") };
  const before = await stampings();
  for (const metadata of [{ labels: { a: "b" } }, { finalizers: ["example.com/f"] }, { finalizers: null }])
    await succeed("admin", { verb: "mergePatch", ...at, body: { metadata } });
  expect(await stampings()).toBe(before);
  await succeed("admin", { verb: "mergePatch", ...at, body: { spec: { timeout: "8m" } } });
  expect(await stampings()).toBeGreaterThan(before);
});
