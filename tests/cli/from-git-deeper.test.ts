import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { gitJournalCrds } from "../../packages/git-journal/src/index.ts";
import { fileText } from "../../packages/git-journal/src/shell/sops.ts";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { kubectl, kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import {
  clusterRoleBinding,
  configMap,
  deployment,
  namespace as namespaceOf,
  secret,
  within,
} from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";
import { ANNA } from "../unit/git-journal/age-identities.ts";
import { directory, janus, start } from "./command-line.ts";
import { fileOf, FOLDER, type JournalRepository, journalRepository, texts } from "./journal-repository.ts";
import { hasTerminals, onTerminal } from "./on-terminal.ts";

const flat = (text: string): string => text.replaceAll(/\s+/gu, " ");

interface Place extends Workspace {
  readonly repository: JournalRepository;
  /** Runs plan on the repository, with these flags. */
  readonly plan: (...flags: readonly string[]) => Promise<Outcome>;
  /** The folder of the objects of this kind. */
  readonly folder: (resource: string) => string;
  readonly own: (manifest: Manifest) => Manifest;
}

const place = async (): Promise<Place> => {
  const made = await workspace();
  const { namespace } = made;
  const repository = journalRepository();
  return {
    ...made,
    repository,
    plan: (...flags) =>
      janus("plan", "-n", namespace, "--service-account", "deployer", "--repo", repository.directory, ...flags),
    folder: (resource) => `${FOLDER}/${resource}/${namespace}`,
    own: (manifest) => within(namespace, manifest),
  };
};

interface Planned {
  readonly spec: {
    readonly changes: readonly {
      readonly type: string;
      readonly target: { readonly name: string };
      readonly content?: object;
    }[];
  };
}
const planned = ({ stdout, stderr }: Outcome): Planned["spec"]["changes"] => {
  expect(stdout, stderr).not.toBe("");
  return (JSON.parse(stdout) as Planned).spec.changes;
};

const fixed = (value: string) => ({ ...configMap("fixed", { value }), immutable: true });

const object = (namespace: string, name = "a"): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n`;

const temporary = () => mkdtempSync(path.join(directory, "tmp-"));

describe("going back to a commit", () => {
  it("patches only what differs, deletes only what Git has come to have since, and touches nothing else", async () => {
    const {
      create,
      patch,
      repository,
      plan,
      own,
      folder,
      txn,
      over,
      read,
      exists,
      janus: controller,
      namespace,
    } = await place();
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", labels: { app: "web" } },
      spec: { ports: [{ port: 80 }] },
    };
    await create(deployment("web", "web:v1"), service, configMap("kept", { a: "1" }));
    const web = own(deployment("web", "web:v1"));
    const all = [web, own(service), own(configMap("kept"))];
    const good = await repository.record(...all);
    const before = await texts(all);

    await patch({ ...deployment("web", "web:v2"), metadata: { name: "web", finalizers: ["example.com/x"] } });
    await patch({ ...service, metadata: { name: "web", labels: { app: "web", more: "x" } } });
    await create(configMap("newer"), configMap("nobodys"));
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { storageClassName: "none", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    await create(claim);
    const owner = await read(web);
    const ownerReferences = [
      { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: owner.metadata.uid, controller: true },
    ];
    await create({ ...configMap("owned"), metadata: { name: "owned", ownerReferences } });
    await repository.record(...all, own(configMap("newer")), own(claim), own(configMap("owned")));
    onTestFinished(
      async () =>
        void (await patch({ ...deployment("web", ""), metadata: { name: "web", finalizers: null }, spec: undefined })),
    );
    const { clusterIP } = (await read(own(service)))["spec"] as { readonly clusterIP: string };

    const written = await plan("--from-git", good, FOLDER, "-o", "json");
    expect(written.stderr).toContain("Left as it is: PersistentVolumeClaim");
    expect(written.stderr).toMatch(/Left as it is: ConfigMap \S+\/owned: it belongs to Deployment web/u);
    expect(planned(written).map(({ type, target }) => `${type} ${target.name}`)).toEqual([
      "Update web",
      "Patch web",
      "Delete newer",
    ]);
    expect(planned(written)[1]?.content).toEqual({
      spec: { template: { spec: { containers: [{ name: "web", image: "web:v1" }] } } },
    });
    expect(planned(await plan("--from-git", good, folder("apps/v1/deployments"), "-o", "json"))).toHaveLength(1);

    await controller();
    expect(await plan("--from-git", "HEAD~1", FOLDER, "--draft", "--name", "txn")).toMatchObject({ code: 1 });
    expect((await txn()).metadata.annotations).toMatchObject({ "janus.io/from-git": good });
    await janus("approve", "txn", "-n", namespace, "--yes", "--as", "bob", "--as-group", "system:masters");
    expect((await over()).status.phase).toBe("Committed");
    expect(await texts(all)).toEqual(before);
    expect(await read(own(service))).toMatchObject({ spec: { clusterIP } });
    expect((await read(web)).metadata.finalizers).toEqual(["example.com/x"]);
    expect(
      await Promise.all([configMap("newer"), configMap("nobodys"), claim, configMap("owned")].map(exists)),
    ).toEqual([false, true, true, true]);
    expect(await plan("--from-git", good, FOLDER)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("nothing else to change") as string,
    });
  });

  it("replaces what cannot be edited with --replace, as the whole object", async () => {
    const { create, remove, repository, plan, own } = await place();
    await create(fixed("1"));
    const good = await repository.record(own(fixed("1")));
    await remove(fixed("1"));
    await create(fixed("2"));
    await repository.record(own(fixed("2")));
    expect(flat((await plan("--from-git", good, FOLDER)).stdout)).toContain("immutable");
    expect(planned(await plan("--from-git", good, FOLDER, "--replace", "-o", "json"))).toMatchObject([
      { type: "Replace", content: { data: { value: "1" }, immutable: true } },
    ]);
  });

  it("makes several Transactions of more changes than one has, if it is told to", async () => {
    const { repository, plan, folder, janus: controller, names } = await place();
    const file = (name: string): readonly [string, string] => [
      `${folder("core/v1/configmaps")}/${name}.yaml`,
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${folder("x").split("/").at(-1)}\n`,
    ];
    repository.commit(Object.fromEntries(Array.from({ length: 501 }, (_, at) => file(`many-${at}`))));
    expect(await plan("--from-git", "HEAD", FOLDER)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        "501 changes, but a Transaction has at most 500: name a smaller folder, or add --max 500",
      ) as string,
    });
    await controller();
    repository.commit(
      Object.fromEntries(
        Array.from({ length: 498 }, (_, at) => [`${folder("core/v1/configmaps")}/many-${at}.yaml`, undefined]),
      ),
    );
    const made = await plan("--from-git", "HEAD", FOLDER, "--max", "2", "--as-draft", "part", "-o", "name");
    expect(made).toMatchObject({
      code: 1,
      stdout: "transaction.backup.janus.io/part-1\ntransaction.backup.janus.io/part-2\n",
    });
    expect(await names("backup.janus.io/v1alpha1", "Transaction")).toEqual(["part-1", "part-2"]);
  });
});

/** A ConfigMap that one commit has changed, and somebody afterwards. */
const conflicting = async () => {
  const made = await place();
  const { create, patch, repository, own } = made;
  const one = configMap("one", { value: "1" });
  await create(one);
  await repository.record(own(one));
  await patch(configMap("one", { value: "2" }));
  const bad = await repository.record(own(one));
  await patch(configMap("one", { value: "3" }));
  await made.janus();
  return { ...made, bad };
};

it("brings a namespace that was deleted back by one Transaction, with what is in it and nothing else", async () => {
  const { namespace, create, patch, repository, plan, own, read, over, janus: controller } = await place();
  await create(clusterRoleBinding(namespace, "cluster-admin", `${namespace}/deployer`));
  onTestFinished(() => administrator.remove(clusterRoleBinding(namespace, "cluster-admin")));
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
  const certificates = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "kube-root-ca.crt" } };
  const [plain, pulling] = [`${namespace}-a`, `${namespace}-b`];
  const inside = (name: string): readonly Manifest[] => [
    namespaceOf(name),
    ...[account, certificates, configMap("app", { a: "1" }), deployment("web", "web:1")].map((one) =>
      within(name, one),
    ),
  ];
  const all = [...inside(plain), ...inside(pulling)];
  for (const name of [plain, pulling]) {
    await create(
      ...inside(name).filter(
        ({ metadata }) => ![account, certificates].some((one) => one.metadata.name === metadata.name),
      ),
    );
    for (const one of [account, certificates])
      await vi.waitUntil(async () => (await administrator.read(within(name, one))) !== undefined, { timeout: 300_000 });
  }
  await administrator.patch({ ...within(pulling, account), imagePullSecrets: [{ name: "registry" }] });
  await create(configMap("other", { a: "1" }));
  const good = await repository.record(...all, own(configMap("other")));
  const before = await texts(all);
  await patch(configMap("other", { a: "2" }));
  for (const name of [plain, pulling]) await administrator.remove(namespaceOf(name));
  const isGone = async (): Promise<boolean> => (await texts(all)).every((text) => text === undefined);
  await vi.waitUntil(isGone, { timeout: 300_000 });

  await controller();
  const back = async (name: string, txn: string): Promise<Outcome> => {
    const drafted = await plan("--from-git", good, FOLDER, "--only-namespace", name, "--as-draft", txn);
    expect(drafted, drafted.stdout + drafted.stderr).toMatchObject({ code: 1 });
    await janus("approve", txn, "-n", namespace, "--yes", "--as", "bob", "--as-group", "system:masters");
    const { status } = await over(txn);
    expect(status.phase, JSON.stringify(status.conditions)).toBe("Committed");
    return drafted;
  };
  expect(await back(plain, "plain")).toMatchObject({ stderr: "" });
  expect((await back(pulling, "pulling")).stderr).toMatch(
    /^Left as it is: ServiceAccount .*default: Kubernetes makes it/u,
  );
  await vi.waitUntil(async () => (await administrator.read(within(pulling, account))) !== undefined, 300_000);
  expect(planned(await plan("--from-git", good, FOLDER, "--only-namespace", pulling, "-o", "json"))).toEqual([
    expect.objectContaining({ type: "Patch", content: { imagePullSecrets: [{ name: "registry" }] } }),
  ]);
  expect((await back(pulling, "again")).stderr).toBe("");
  await expect.poll(() => texts(all)).toEqual(before);
  expect(await read(configMap("other"))).toMatchObject({ data: { a: "2" } });
  expect(await plan("--from-git", good, FOLDER, "--only-namespace", "none")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`no file of an object of namespace none under ${FOLDER}`) as string,
  });
});

it("takes back only the part of a commit that is named", async () => {
  const { create, patch, repository, plan, own } = await place();
  const both = [configMap("one", { value: "1" }), configMap("two", { value: "1" })];
  await create(...both);
  await repository.record(...both.map(own));
  for (const { metadata } of both) await patch(configMap(metadata.name, { value: "2" }));
  const bad = await repository.record(...both.map(own));
  const [one] = await fileOf(own(configMap("one")));
  expect(planned(await plan("--revert", bad, "-o", "json"))).toHaveLength(2);
  expect(planned(await plan("--revert", bad, one, "-o", "json"))).toMatchObject([{ target: { name: "one" } }]);
});

describe("taking a commit back that somebody has changed something after", () => {
  it("shows it, and does nothing unless it is told to, where nobody can be asked", async () => {
    const { bad, plan, txn, exists } = await conflicting();
    const refused = await plan("--revert", bad, "--as-draft", "txn");
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toMatch(/Changed after [0-9a-f]{12}, which would be lost: ConfigMap \S+\/one/u);
    expect(refused.stderr).toContain('-  value: "2"\n+  value: "3"\n');
    expect(refused.stderr).toContain("no Draft was created");
    expect(refused.stderr).toContain("add --yes");
    expect(await exists(transaction("txn"))).toBe(false);
    expect((await plan("--revert", bad)).stderr).toContain("which would be lost");
    expect(await plan("--revert", bad, "--as-draft", "txn", "--yes")).toMatchObject({ code: 1 });
    expect((await txn()).spec.changes).toMatchObject([{ type: "Patch", content: { data: { value: "1" } } }]);
  });

  it.runIf(hasTerminals)("asks on a terminal", async () => {
    const { bad, namespace, repository, exists } = await conflicting();
    const line = `kubectl-janus plan --revert ${bad} --repo ${repository.directory} -n ${namespace} --service-account deployer --as-draft txn`;
    for (const [answer, code] of [
      ["n", 3],
      ["y", 1],
    ] as const) {
      const terminal = await onTerminal(line);
      await expect.poll(terminal.written).toContain("all the same? [y/N]");
      expect(await exists(transaction("txn"))).toBe(false);
      terminal.type(`${answer}\n`);
      expect(await terminal.ended).toBe(code);
    }
    expect(await exists(transaction("txn"))).toBe(true);
  });
});

describe("a repository", () => {
  it("with links, submodules, huge files and odd names is read without following any, and names what it is", async () => {
    const { repository, plan, folder, namespace } = await place();
    const configMaps = folder("core/v1/configmaps");
    repository.commit({
      "README.md": "not ours",
      [`${FOLDER}/kustomization.yaml`]: "resources: []\n",
      [`${FOLDER}/.configbutler/owner.yaml`]: "kind: Owner\n",
      [`${FOLDER}/it's "odd"\n é.md`]: "x",
      [`${configMaps}/a.yaml`]: object(namespace),
    });
    mkdirSync(path.join(repository.directory, FOLDER, "core/v1/secrets"), { recursive: true });
    symlinkSync("/etc", path.join(repository.directory, FOLDER, "core/v1/secrets", namespace));
    repository.git("add", "--all");
    repository.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},${FOLDER}/vendor`);
    repository.git("commit", "--quiet", "--message=odd");
    const found = await plan("--from-git", "HEAD", FOLDER, "-o", "json");
    expect(found.code).toBe(0);
    expect(planned(found)).toMatchObject([{ type: "Create", target: { name: "a" } }]);
    expect(found.stderr).toContain(
      `Skipped: ${FOLDER}/core/v1/secrets/${namespace}: a symlink, which is not followed.\n`,
    );
    expect(found.stderr).toContain(`Skipped: ${FOLDER}/vendor: a submodule, which is not followed.\n`);
    expect(await plan("--from-git", "HEAD", `${FOLDER}/vendor/x`)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("vendor is a submodule") as string,
    });

    repository.commit({
      [`${configMaps}/huge.yaml`]: `${object(namespace, "huge")}# ${"x".repeat(5 * 1024 * 1024)}\n`,
      [`${configMaps}/other.yaml`]: object(namespace, "else"),
      [`${configMaps}/two.yaml`]: `${object(namespace, "two")}---\n${object(namespace, "two")}`,
    });
    writeFileSync(path.join(repository.directory, configMaps, "bytes.yaml"), Buffer.from([0xff, 0x00, 0xfe, 0x41]));
    symlinkSync("a.yaml", path.join(repository.directory, configMaps, "link.yaml"));
    repository.commit({});
    const wrong = await plan("--from-git", "HEAD", FOLDER, "--as-draft", "txn");
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    for (const [name, why] of [
      ["huge", "it is larger than 4 MiB"],
      ["other", `it has v1 ConfigMap ${namespace}/else, which is not the object of its path`],
      ["two", "it does not have one Kubernetes object"],
      ["link", "a symlink, which is not followed"],
      ["bytes", "the file is not UTF-8"],
    ])
      expect(wrong.stderr).toContain(`Cannot be used: ${configMaps}/${name}.yaml: ${why}`);
    expect(wrong.stderr).toContain("Nothing was planned");
    expect(planned(await plan("--from-git", "HEAD", `${configMaps}/a.yaml`, "-o", "json"))).toHaveLength(1);
  });

  it.each([
    ["..", "leads out of the repository"],
    [`${FOLDER}/../../..`, "leads out of the repository"],
    ["/etc", "name a path in the repository"],
    ["nowhere", "there is no file of an object under nowhere at HEAD"],
  ])("is not left by the path %s", async (at, why) => {
    const { repository, plan, folder, namespace } = await place();
    repository.commit({ [`${folder("core/v1/configmaps")}/a.yaml`]: object(namespace) });
    expect(await plan("--from-git", "HEAD", at)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(why) as string,
    });
  });

  it("has commits by any name that git knows, and no options", async () => {
    const { repository, plan, folder, namespace, create } = await place();
    const configMaps = folder("core/v1/configmaps");
    const first = repository.commit({ [`${configMaps}/a.yaml`]: object(namespace) });
    repository.git("tag", "--annotate", "--message=x", "v1.0");
    const names = ["HEAD", "main", "v1.0", first.slice(0, 8), "main@{0}"];
    const found = await Promise.all(names.map((name) => plan("--from-git", name, FOLDER, "-o", "json")));
    expect(found.map((one) => planned(one).length)).toEqual([1, 1, 1, 1, 1]);
    const none = ["--all", "nowhere", "HEAD:README", "HEAD\nHEAD", ""];
    for (const refused of await Promise.all(none.map((name) => plan(`--from-git=${name}`, FOLDER))))
      expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("is no commit of") as string });

    expect(await plan("--revert", first)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("nothing to change") as string,
    });
    repository.git("checkout", "--quiet", "-b", "side");
    repository.commit({ [`${configMaps}/b.yaml`]: object(namespace, "b") });
    repository.git("checkout", "--quiet", "main");
    repository.commit({ [`${configMaps}/c.yaml`]: object(namespace, "c") });
    repository.git("merge", "--quiet", "--no-edit", "side");
    expect(await plan("--revert", "HEAD")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("is a merge") as string,
    });
    const shallow = mkdtempSync(path.join(directory, "shallow-"));
    repository.git("clone", "--quiet", "--depth=1", "--branch=side", `file://${repository.directory}`, shallow);
    expect(await plan("--revert", "HEAD", "--repo", shallow)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("git fetch --unshallow") as string,
    });
    const behind = mkdtempSync(path.join(directory, "behind-"));
    repository.git("clone", "--quiet", repository.directory, behind);
    repository.git("-C", behind, "reset", "--quiet", "--hard", "v1.0");
    // It has fetched the later commits, by which it knows what is to go.
    await create(configMap("b"));
    const goesBack = await plan("--from-git", "HEAD", FOLDER, "--repo", behind, "-o", "json");
    expect(planned(goesBack).map(({ type, target }) => `${type} ${target.name}`)).toEqual(["Create a", "Delete b"]);
    const bare = path.join(mkdtempSync(path.join(directory, "bare-")), "live.git");
    repository.git("clone", "--quiet", "--bare", repository.directory, bare);
    expect(planned(await plan("--from-git", "v1.0", FOLDER, "--repo", bare, "-o", "json"))).toHaveLength(2);
    expect(await plan("--from-git", "HEAD", FOLDER, "--repo", directory)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("is no repository") as string,
    });
  });

  it("runs nothing that it configures, and is only read", async () => {
    const { repository, plan, folder, namespace } = await place();
    repository.commit({ [`${folder("core/v1/configmaps")}/a.yaml`]: object(namespace) });
    const ran = path.join(repository.directory, ".git", "ran");
    for (const key of [
      "core.fsmonitor",
      "core.sshCommand",
      "core.pager",
      "diff.external",
      "uploadpack.packObjectsHook",
    ])
      repository.git("config", key, `touch ${ran}`);
    const files = () =>
      readdirSync(path.join(repository.directory, ".git"), { recursive: true })
        .map(String)
        .toSorted((one, other) => (one < other ? -1 : 1));
    const before = files();
    expect(planned(await plan("--from-git", "HEAD", FOLDER, "-o", "json"))).toHaveLength(1);
    expect(files()).toEqual(before);
  });
});

describe("a repository on a server", () => {
  it("is fetched into a clone that is removed afterwards, with the credentials of a GitDestination", async () => {
    const { repository, namespace, create, own, patch } = await place();
    await kubectlWith(
      { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items: gitJournalCrds }) },
      "apply",
      "--server-side",
      "--force-conflicts",
      "-f",
      "-",
    );
    await vi.waitUntil(async () => (await kubectl("get", "gitdestinations,gitrepoconfigs", "-A")).code === 0, 300_000);
    const server = await startGitServer({
      tls: false,
      authorization: `Basic ${Buffer.from("alice:s3cret-word").toString("base64")}`,
    });
    onTestFinished(server.stop);
    const one = configMap("one", { value: "1" });
    await create(one);
    const good = await repository.record(own(one));
    await patch(configMap("one", { value: "2" }));
    await repository.record(own(one));
    gitOf(server.directory)(["fetch", "--quiet", repository.directory, "main:live"]);
    gitOf(server.directory)(["symbolic-ref", "HEAD", "refs/heads/live"]);

    await create(secret("cred", { username: "alice", password: "s3cret-word" }));
    const kind = { apiVersion: "configbutler.ai/v1alpha1" };
    await administrator.create(
      own({
        ...kind,
        kind: "GitRepoConfig",
        metadata: { name: "repo" },
        spec: { repoUrl: server.url, branch: "live", secretRef: { name: "cred" } },
      }),
    );
    await administrator.create(
      own({
        ...kind,
        kind: "GitDestination",
        metadata: { name: "live" },
        spec: { repoRef: { name: "repo" }, branch: "live", baseFolder: FOLDER },
      }),
    );
    const TMPDIR = temporary();
    const run = (...flags: readonly string[]) =>
      start(["plan", "-n", namespace, "--service-account", "deployer", ...flags], { env: { TMPDIR } }).ended;
    const found = await run("--from-git", good, "--destination", `${namespace}/live`, "-o", "json");
    expect(planned(found)).toMatchObject([{ type: "Patch", content: { data: { value: "1" } } }]);
    expect(planned(await run("--revert", "HEAD", "--destination", "live", "-o", "json"))).toHaveLength(1);
    expect(await run("--from-git", good, "elsewhere", "--destination", "live")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`elsewhere is outside of ${FOLDER}`) as string,
    });
    const elsewhere = await run("--from-git", good, "--destination", "live", "--repo", repository.directory);
    expect(elsewhere.stderr).toContain("has no refs/remotes/origin/live, and no refs/heads/live");
    const url = new URL(server.url);
    url.username = "alice";
    url.password = "s3cret-word";
    expect(planned(await run("--from-git", good, FOLDER, "--repo", url.href, "-o", "json"))).toHaveLength(1);
    const absent = await run("--from-git", "v9", FOLDER, "--repo", url.href);
    expect(absent.stderr).toContain("is no commit of");
    expect(absent.stderr).not.toContain("git fetch");
    url.password = "wr0ng-word";
    const refused = await run("--from-git", good, FOLDER, "--repo", url.href);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(flat(refused.stderr)).toContain("those of the URL are wrong: put a name and password into it");
    expect(refused.stderr).not.toContain("wr0ng-word");
    expect(await run("--from-git", good, FOLDER, "--destination", "none")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("there is no GitDestination") as string,
    });
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  it("that never answers leaves nothing behind when the command is interrupted", async () => {
    const server = await startGitServer({ tls: false, fault: () => "silence" });
    onTestFinished(server.stop);
    const TMPDIR = temporary();
    const running = start(["plan", "--from-git", "HEAD", ".", "--repo", server.url], { env: { TMPDIR } });
    await expect.poll(() => server.requests.length).toBe(1);
    expect(readdirSync(TMPDIR)).toHaveLength(1);
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  it("may name its objects by SHA-256", async () => {
    const { namespace } = await workspace();
    const server = await startGitServer({ tls: false, objectFormat: "sha256" });
    onTestFinished(server.stop);
    const git = gitOf(server.directory);
    const text = object(namespace);
    const file = `M 100644 inline ${FOLDER}/core/v1/configmaps/${namespace}/a.yaml\ndata ${text.length}\n${text}`;
    git(["fast-import", "--quiet"], `commit refs/heads/main\ncommitter a <a@b.c> 0 +0000\ndata 1\nx\n${file}\n`);
    git(["symbolic-ref", "HEAD", "refs/heads/main"]);
    const found = await janus(
      "plan",
      "-n",
      namespace,
      "--from-git",
      "HEAD",
      FOLDER,
      "--repo",
      server.url,
      "-o",
      "json",
    );
    expect(planned(found)).toMatchObject([{ type: "Create" }]);
  });

  it.each([
    ["git@git.example.com:live", "over ssh, only the key of a GitDestination is used"],
    ["ext::sh -c x", "there is no such directory, and it is no URL"],
    ["--upload-pack=x", "there is no such directory, and it is no URL"],
  ])("is not reached by %s", async (repo, why) => {
    const { namespace } = await workspace();
    expect(await janus("plan", "-n", namespace, "--from-git", "HEAD", ".", `--repo=${repo}`)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(why) as string,
    });
  });
});

describe("Secrets", () => {
  it("are decrypted with the key of the user, shown to nobody, and skipped where Git does not have their data", async () => {
    const { create, patch, repository, plan, own, namespace, txn, over, read, janus: controller } = await place();
    await create(secret("sealed", { token: "hunter2" }), secret("left-out", { token: "x" }));
    const [at, text = ""] = await fileOf(own(secret("sealed")));
    const [leftOut] = await fileOf(own(secret("left-out")));
    const file = { apiVersion: "v1", kind: "Secret", metadata: { name: "sealed", namespace }, type: "Opaque" };
    const data = { token: Buffer.from("hunter2").toString("base64") };
    expect(text).toContain(data.token);
    const good = repository.commit({
      [at]: await fileText({ type: "encrypted", file, data, recipients: [ANNA.recipient] }),
      [leftOut]: `apiVersion: v1\nkind: Secret\nmetadata:\n  name: left-out\n  namespace: ${namespace}\n  annotations:\n    configbutler.ai/content-digest: hmac-sha256:x\ntype: Opaque\n`,
    });
    await patch(secret("sealed", { token: "hunter3" }));
    await controller();

    const without = await plan("--from-git", good, FOLDER);
    expect(without).toMatchObject({ code: 0, stdout: "" });
    expect(without.stderr).toContain(`Skipped: ${leftOut}: a Secret that is in Git without its data.\n`);
    expect(without.stderr).toContain(`Skipped: ${at}: a Secret whose data are encrypted: set SOPS_AGE_KEY_FILE`);

    const keyFile = path.join(repository.directory, "..", `${namespace}.agekey`);
    writeFileSync(keyFile, `# created: now\n${ANNA.identity}\n`);
    const run = (...flags: readonly string[]) =>
      start(["plan", "-n", namespace, "--service-account", "deployer", "--repo", repository.directory, ...flags], {
        env: { SOPS_AGE_KEY_FILE: keyFile },
      }).ended;
    const shown = await run("--from-git", good, FOLDER);
    expect(shown).toMatchObject({ code: 1 });
    const drafted = await run("--from-git", good, FOLDER, "--as-draft", "txn");
    expect(drafted).toMatchObject({ code: 1 });
    for (const { stdout, stderr } of [shown, drafted]) expect(stdout + stderr).not.toMatch(/hunter|aHVudGVy/u);
    expect(JSON.stringify(await txn())).not.toMatch(/hunter|aHVudGVy/u);
    await janus("approve", "txn", "-n", namespace, "--yes", "--as", "bob", "--as-group", "system:masters");
    expect((await over()).status.phase).toBe("Committed");
    expect((await read(secret("sealed")))["data"]).toEqual(data);

    writeFileSync(keyFile, "no key\n");
    expect(await run("--from-git", good, FOLDER)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("SOPS_AGE_KEY_FILE") as string,
    });
  });
});

it("refuses flags that belong to manifests, or to the way back", async () => {
  const { namespace } = await workspace();
  const refused = (...flags: readonly string[]) => janus("plan", "-n", namespace, ...flags);
  for (const [flags, why] of [
    [["--from-git", "HEAD", ".", "-f", "x"], "-f: there are no manifests"],
    [["--from-git", "HEAD", "--revert", "HEAD", "."], "only one of --from-git and --revert"],
    [["-f", "x", "--max", "3"], "--max goes with --from-git or --revert"],
    [["-f", "x", "y"], "y goes with --from-git or --revert"],
    [["--from-git", "HEAD"], "name a folder or file of the repository"],
  ] as const)
    expect(await refused(...flags)).toMatchObject({ code: 3, stderr: expect.stringContaining(why) as string });
});
