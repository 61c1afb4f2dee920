// Conditions, status and events on the real control plane, with each of their reasons once, and what is wanted in Git.
import type { JsonObject } from "@janus/types";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest, type Ref } from "../fixtures/administrator.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { eventsOf } from "../fixtures/events.ts";
import { startGitServer } from "../fixtures/git-server.ts";
import { secret, within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { hasSsh, startSshServer } from "../fixtures/ssh-server.ts";
import { type Running, runConfiguration, wellReport } from "./configuration-world.ts";
import { configMap, configuration, controllerOf, place } from "./mirror-world.ts";
import { commitsElsewhere } from "./server-world.ts";
import { conditionsIn, journalObject, messageOf, readyOf } from "./kinds.ts";

const PASSWORD = "p@ss: wörd/4711";
const IN_URL = "s3cr3t-in-the-url";

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

let shop = "";
let bank = "";
let other = "";
let running: Running;
/** Their URLs. */
const servers = new Map<string, string>();
const serverOf = (name: string): string => servers.get(name) ?? name;

const made = async (kind: string, at: string, spec: JsonObject): Promise<Manifest> => {
  const object = journalObject(kind, at, spec);
  await administrator.create(object);
  return object;
};

const config = (name: string, repoUrl: string, spec: JsonObject = {}): Promise<Manifest> =>
  made("GitRepoConfig", `${shop}/${name}`, { repoUrl, allowedBranches: ["main"], ...spec });
const destination = (name: string, spec: JsonObject = {}): Promise<Manifest> =>
  made("GitDestination", `${shop}/${name}`, { repoRef: { name: "open" }, branch: "main", baseFolder: name, ...spec });
const rule = (namespace: string, name: string, spec: JsonObject): Promise<Manifest> =>
  made("WatchRule", `${namespace}/${name}`, { rules: [{ resources: ["configmaps"] }], ...spec });
const clusterRule = async (name: string, spec: JsonObject): Promise<Manifest> => {
  const object = await made("ClusterWatchRule", `${shop}-${name}`, {
    rules: [{ resources: ["configmaps"], scope: "Namespaced" }],
    ...spec,
  });
  ends.push(() => administrator.remove(object));
  return object;
};

const ref = (kind: string, at: string): Ref => journalObject(kind, at);
const said = (object: Ref) => (): Promise<string> => readyOf(object);

beforeAll(async () => {
  [shop, bank, other] = [await freshNamespace(), await freshNamespace(), await freshNamespace()];
  await kubectl("label", "namespace", bank, "team=bank");
  const open = await startGitServer({ tls: false });
  const guarded = await startGitServer({
    authorization: `Basic ${Buffer.from(`alice:${PASSWORD}`).toString("base64")}`,
  });
  const moved = await startGitServer({
    tls: false,
    fault: () => ({ answers: 301, headers: { location: "https://git.example.com/new.git/info/refs" } }),
  });
  const silent = await startGitServer({ tls: false, fault: () => "silence" });
  const body = `Repository not found: ${PASSWORD}\ninside ${PASSWORD}\n`;
  const repeats = { answers: 403, headers: { "content-type": "text/plain" }, body };
  const repeating = await startGitServer({ tls: false, fault: () => repeats });
  ends.push(open.stop, guarded.stop, moved.stop, silent.stop, repeating.stop);
  for (const [name, { url }] of Object.entries({ open, guarded, moved, silent, repeating })) servers.set(name, url);
  for (const one of [
    secret("right", { username: "alice", password: PASSWORD, "ca.crt": guarded.ca ?? "" }),
    secret("wrong", { username: "alice", password: "no", "ca.crt": guarded.ca ?? "" }),
    secret("no-hosts", { identity: "key" }),
  ])
    await administrator.create(within(shop, one));
  if (hasSsh) {
    const ssh = await startSshServer();
    ends.push(ssh.stop);
    servers.set("ssh", ssh.url);
    const identity = ssh.keys.plain;
    for (const [name, knownHosts] of [
      ["key", ssh.knownHosts],
      ["unknown-host", `git.example.com ${ssh.foreignHostKey}\n`],
      ["changed-host", `[127.0.0.1]:${ssh.port} ${ssh.foreignHostKey}\n`],
    ] as const)
      await administrator.create(within(shop, secret(name, { identity, known_hosts: knownHosts })));
  }
  running = await runConfiguration({ namespaces: [shop, bank, other], silent: [`${shop}/quiet`, `${shop}/told`] });
  ends.push(running.stop);
  await config("open", serverOf("open"));
});

describe("a GitRepoConfig", () => {
  it.each<readonly [string, string, JsonObject, string, RegExp]>([
    ["reachable", "open", {}, "True BranchFound", /branch main will be made by the first push/u],
    ["waiting", "silent", {}, "Unknown Checking", /being asked/u],
    [
      "with-credentials",
      "guarded",
      { secretRef: { name: "right" } },
      "True BranchFound",
      /^https:\/\/127\.0\.0\.1:\d+\/live\.git: branch main/u,
    ],
    [
      "no-secret",
      "open",
      { secretRef: { name: "none" } },
      "False SecretNotFound",
      /there is no Secret \S+\/none: create it/u,
    ],
    [
      "no-name-of-a-secret",
      "open",
      { secretRef: { name: "../other/secrets/cred" } },
      "False SecretNotFound",
      /there is no Secret \S+\/\.\.\/other\/secrets\/cred: create it/u,
    ],
    [
      "no-hosts",
      "ssh://git@git.example.com/live.git",
      { secretRef: { name: "no-hosts" } },
      "False SecretMalformed",
      /Secret \S+\/no-hosts has no known_hosts: add the output of ssh-keyscan git\.example\.com$/u,
    ],
    [
      "wrong-password",
      "guarded",
      { secretRef: { name: "wrong" } },
      "False AuthenticationFailed",
      /does not accept the credentials of Secret \S+\/wrong/u,
    ],
    ["unknown-ca", "guarded", {}, "False CertificateUnknown", /add it to a Secret \(secretRef\) as ca\.crt$/u],
    ["nowhere", "http://127.0.0.1:1/live.git", {}, "False ConnectionFailed", /^the connection to 127\.0\.0\.1 failed/u],
    ["no-url", "file:///etc", {}, "False InvalidURL", /must be an https, http or ssh URL/u],
    ["moved", "moved", {}, "False InvalidURL", /is redirected to https:\/\/git\.example\.com\/new\.git/u],
    ["no-branch", "open", { allowedBranches: ["x".repeat(201)] }, "False InvalidSpec", /is no name of a branch/u],
  ])("%s", async (name, server, spec, expected, message) => {
    const one = await config(name, serverOf(server), spec);
    await expect.poll(said(one)).toBe(expected);
    expect(await messageOf(one)).toMatch(message);
  });

  it.skipIf(!hasSsh).each([
    ["key", "True BranchFound", /branch main/u],
    ["unknown-host", "False HostKeyUnknown", /add the output of ssh-keyscan/u],
    ["changed-host", "False HostKeyChanged", /has another host key than known_hosts of Secret \S+\/changed-host/u],
  ])("over ssh, with %s", async (name, expected, message) => {
    const one = await config(`ssh-${name}`, serverOf("ssh"), { secretRef: { name } });
    await expect.poll(said(one)).toBe(expected);
    expect(await messageOf(one)).toMatch(message);
  });

  it("never shows a credential, wherever it comes from", async () => {
    await config("in-url", serverOf("guarded").replace("https://", `https://alice:${IN_URL}@`));
    await expect.poll(said(ref("GitRepoConfig", `${shop}/in-url`))).toBe("False CertificateUnknown");
    const shown = await kubectl("get", "gitrepoconfig", "in-url", "-n", shop, "-o", "wide");
    expect(shown.stdout).toContain(` ${serverOf("guarded")} `);
    expect(shown.stdout).toMatch(/ False +CertificateUnknown /u);
    expect(shown.stdout).not.toContain(IN_URL);
    const repeated = await config("repeated", serverOf("repeating"), { secretRef: { name: "right" } });
    await expect.poll(said(repeated)).toBe("False AuthenticationFailed");
    expect(await messageOf(repeated)).toMatch(/: Repository not found$/u);
    const events = await administrator.list({ apiVersion: "v1", kind: "Event" }, shop);
    const objects = await administrator.list({ apiVersion: "configbutler.ai/v1alpha1", kind: "GitRepoConfig" }, shop);
    const all = JSON.stringify([events, objects.map(({ status }) => status)]);
    expect(all).toContain("AuthenticationFailed");
    for (const form of [PASSWORD, encodeURIComponent(PASSWORD), Buffer.from(PASSWORD).toString("base64"), IN_URL])
      expect(all).not.toContain(form);
  });

  it("is healed by an edit of its Secret within half a minute", async () => {
    await administrator.create(within(shop, secret("edited", { username: "alice" })));
    const one = await config("healed", serverOf("open"), { secretRef: { name: "edited" } });
    await expect.poll(said(one)).toBe("False SecretMalformed");
    await administrator.patch(within(shop, { ...secret("edited", { password: "new" }) }));
    await expect.poll(() => readyOf(one), { interval: 500 }).toBe("True BranchFound");
  });

  it("is asked anew at once when it is edited", async () => {
    const one = await config("edited", "http://127.0.0.1:1/live.git");
    await expect.poll(said(one)).toBe("False ConnectionFailed");
    await administrator.patch({ ...one, spec: { repoUrl: serverOf("open") } });
    await expect.poll(said(one)).toBe("True BranchFound");
  });
});

describe("a GitDestination", () => {
  beforeAll(async () => {
    await config("bad", "http://127.0.0.1:1/live.git");
    for (const name of ["quiet", "told", "bad"]) await rule(shop, `to-${name}`, { destinationRef: { name } });
  });

  it.each<readonly [string, JsonObject, string]>([
    ["quiet", {}, "Unknown Validating"],
    ["bad", { repoRef: { name: "bad" } }, "False GitRepoConfigNotReady"],
    ["lost", { repoRef: { name: "none" } }, "False GitRepoConfigNotFound"],
    ["dev", { branch: "dev" }, "False BranchNotAllowed"],
    ["without-rules", {}, "False NoRules"],
  ])("%s", async (name, spec, expected) => {
    await expect.poll(said(await destination(name, spec))).toBe(expected);
  });

  it("of a namespace that may not write is told", async () => {
    const spec = { repoRef: { name: "open", namespace: shop }, branch: "main", baseFolder: "x" };
    await expect.poll(said(await made("GitDestination", `${bank}/denied`, spec))).toBe("False AccessDenied");
  });

  it.each(["PathConflict", "PushRefused", "DiskFull", "RepositoryTooLarge", "LeaseHeld", "ListIncomplete"])(
    "says what its worker tells: %s",
    async (reason) => {
      const told = ref("GitDestination", `${shop}/told`);
      if ((await administrator.read(told)) === undefined) await destination("told");
      await expect.poll(() => running.wanted()?.branches.size).toBeGreaterThan(0);
      running.report(
        `${shop}/told`,
        wellReport({ readiness: { type: "failed", reason, message: "why", lasts: false } }),
      );
      await expect.poll(said(told)).toBe(`False ${reason}`);
    },
  );

  it("has in its status what was pushed, and an event tells how much", async () => {
    const pushed = { commits: 2, files: 12 };
    const lastPushTime = "2026-01-01T00:00:00Z";
    running.report(`${shop}/told`, wellReport({ pushed, lastCommit: "abcdef0123456789", lastPushTime, pending: 4 }));
    const told = ref("GitDestination", `${shop}/told`);
    await expect.poll(said(told)).toBe("True Ready");
    expect(await administrator.read(told)).toMatchObject({
      status: { lastCommit: "abcdef0123456789", lastPushTime, objects: 3, pending: 4, observedGeneration: 1 },
    });
    await expect
      .poll(async () => (await eventsOf(shop, "told")).map(({ message }) => message))
      .toContain("pushed 12 changes in 2 commits, the last is abcdef012345");
  });

  it("with the folder of an older one is not written, and is when that one is gone", async () => {
    await Promise.all([
      rule(shop, "first", { destinationRef: { name: "first" } }),
      rule(shop, "second", { destinationRef: { name: "second" } }),
    ]);
    const first = await destination("first", { baseFolder: "twin" });
    await expect.poll(said(first)).toBe("True Ready");
    const second = await destination("second", { baseFolder: "twin" });
    await expect.poll(said(second)).toBe("False OwnershipConflict");
    await expect.poll(said(ref("WatchRule", `${shop}/second`))).toBe("False GitDestinationNotReady");
    expect(await messageOf(second)).toContain(`GitDestination ${shop}/first, which is older, has the same folder twin`);
    expect(running.counted("ownership conflicts")).toBe(1);
    await administrator.remove(first);
    await expect.poll(said(second)).toBe("True Ready");
  });

  it("whose marker is another's has a condition of its own, and is Ready all the same", async () => {
    const one = await destination("marked");
    await rule(shop, "marked", { destinationRef: { name: "marked" } });
    await expect.poll(said(one)).toBe("True Ready");
    running.report(`${shop}/marked`, wellReport({ conflict: "the folder is that of another cluster" }));
    await expect
      .poll(async () => conditionsIn(await administrator.read(one)).map(({ type, status }) => `${type} ${status}`))
      .toEqual(["Ready True", "OwnershipConflict True"]);
    await expect
      .poll(async () => (await eventsOf(shop, "marked")).map(({ reason }) => reason))
      .toContain("OwnershipConflict");
  });

  it("is written at most once a second, and says the latest in the end", async () => {
    const one = await destination("busy");
    await rule(shop, "busy", { destinationRef: { name: "busy" } });
    await expect.poll(said(one)).toBe("True Ready");
    const before = running.writes("busy");
    const began = performance.now();
    for (let pending = 1; pending <= 30; pending += 1) {
      running.report(`${shop}/busy`, wellReport({ pending }));
      await administrator.read(one);
    }
    await expect.poll(() => administrator.read(one)).toMatchObject({ status: { pending: 30 } });
    expect(running.writes("busy") - before).toBeLessThanOrEqual(2 + (performance.now() - began) / 1000);
  });
});

const direct = () => ({ gitRepoConfigRef: { name: "tenants", namespace: shop } });

describe("a rule", () => {
  beforeAll(async () => {
    const namespacedRules = { mode: "FromSelector", namespaceSelector: { matchLabels: { team: "bank" } } };
    await config("tenants", serverOf("open"), { allowedBranches: ["tenants"], accessPolicy: { namespacedRules } });
  });

  it("of a destination that is there is Ready, and says what it does not write", async () => {
    await destination("good");
    const one = await rule(shop, "good", {
      destinationRef: { name: "good" },
      rules: [{ resources: ["configmaps", "widgets", "limitranges", "pods/log"] }],
    });
    await expect.poll(said(one)).toBe("True Ready");
    expect(await messageOf(one)).toMatch(
      /^writes to GitDestination \S+\/good; not written: widgets: not served.*limitranges: left out by the controller's flag --discovery-exclude; pods\/log: subresources/u,
    );
  });

  it("whose destination is not there is told, and Ready when it comes", async () => {
    const one = await rule(shop, "early", { destinationRef: { name: "late" } });
    await expect.poll(said(one)).toBe("False GitDestinationNotFound");
    await destination("late");
    await expect.poll(said(one)).toBe("True Ready");
  });

  it("whose destination is not Ready is not", async () => {
    await expect
      .poll(said(await rule(shop, "stuck", { destinationRef: { name: "bad" } })))
      .toBe("False GitDestinationNotReady");
  });

  it("that names a repository which is not there, or not Ready, is told", async () => {
    const spec = { gitRepoConfigRef: { name: "none" } };
    await expect.poll(said(await rule(shop, "none", spec))).toBe("False GitRepoConfigNotFound");
    await expect
      .poll(said(await rule(shop, "bad", { gitRepoConfigRef: { name: "bad" } })))
      .toBe("False GitRepoConfigNotReady");
  });

  it("whose selector is wrong says where", async () => {
    const one = await rule(shop, "selector", {
      destinationRef: { name: "good" },
      objectSelector: { matchExpressions: [{ key: "a", operator: "Near" }] },
    });
    await expect.poll(said(one)).toBe("False InvalidSpec");
    expect(await messageOf(one)).toMatch(/^spec\.objectSelector: Near is no operator/u);
  });

  it("of another namespace may write where the repository selects it, from the moment that it does", async () => {
    await expect.poll(said(await rule(bank, "selected", direct()))).toBe("True Ready");
    const denied = await rule(other, "denied", direct());
    await expect.poll(said(denied)).toBe("False AccessDenied");
    await expect
      .poll(async () => (await eventsOf(other, "denied")).map(({ reason }) => reason))
      .toEqual(["AccessDenied"]);
    await kubectl("label", "namespace", other, "team=bank");
    await expect.poll(said(denied)).toBe("True Ready");
    await kubectl("label", "namespace", other, "team-");
    await expect.poll(said(denied)).toBe("False AccessDenied");
  });

  it("of the cluster may write directly only where that is allowed", async () => {
    const one = await clusterRule("direct", direct());
    await expect.poll(said(one)).toBe("False AccessDenied");
    await administrator.patch({
      ...ref("GitRepoConfig", `${shop}/tenants`),
      spec: { accessPolicy: { allowClusterRules: true } },
    });
    await expect.poll(said(one)).toBe("True Ready");
  });

  it("of the cluster may write through a destination", async () => {
    await expect
      .poll(said(await clusterRule("through", { destinationRef: { name: "good", namespace: shop } })))
      .toBe("True Ready");
  });
});

const widgetsOf = (group: string): Manifest => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { kind: "Widget", plural: "widgets" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
});

it("a resource is selected when its definition comes, and gone when that goes", async () => {
  const group = `${shop}.example.com`;
  await destination("widgets");
  const one = await rule(shop, "widgets", {
    destinationRef: { name: "widgets" },
    rules: [{ resources: ["widgets"], apiGroups: [group] }],
  });
  await expect.poll(said(one)).toBe("True Ready");
  expect(await messageOf(one)).toContain("not written: widgets: not served");
  const selected = () =>
    [...(running.wanted()?.branches.values() ?? [])]
      .flatMap(({ destinations }) => destinations)
      .find((at) => at.destination.name === `${shop}/widgets`)
      ?.selected.map(({ group: of, version, plural }) => `${of}/${version}/${plural}`);
  const isGone = () => running.wanted()?.gone.has(`widgets.${group}`);
  expect([selected(), isGone()]).toEqual([[], true]);
  const definition = widgetsOf(group);
  await administrator.create(definition);
  ends.push(() => administrator.remove(definition));
  await expect.poll(() => [selected(), isGone()]).toEqual([[`${group}/v1/widgets`], false]);
  await expect.poll(() => messageOf(one)).toBe(`writes to GitDestination ${shop}/widgets`);
  await administrator.remove(definition);
  await expect.poll(() => [selected(), isGone()]).toEqual([[], true]);
});

it("what is known of a group stays known while it cannot be asked", async () => {
  const broken = { is: false };
  const namespace = await freshNamespace();
  const second = await runConfiguration({
    namespaces: [namespace],
    discoveryRefresh: 200,
    hook: async (request, next) => {
      const answer = await next(request);
      if (!broken.is || request.verb !== "raw" || request.path !== "/apis") return answer;
      const text = JSON.stringify(answer, (_, value: unknown) => {
        const group = Object(value) as { readonly metadata?: { readonly name?: string }; readonly versions?: unknown };
        return group.metadata?.name === "apps"
          ? { ...group, versions: [{ version: "v1", freshness: "Stale", resources: [] }] }
          : value;
      });
      return JSON.parse(text) as typeof answer;
    },
  });
  ends.push(second.stop);
  await made("GitRepoConfig", `${namespace}/open`, { repoUrl: serverOf("open"), branch: "main" });
  await rule(namespace, "apps", { gitRepoConfigRef: { name: "open" }, rules: [{ resources: ["deployments"] }] });
  const knows = () =>
    [...(second.wanted()?.branches.values() ?? [])].some(({ destinations }) =>
      destinations.some(({ selected }) => selected.some(({ plural }) => plural === "deployments")),
    );
  await expect.poll(knows).toBe(true);
  broken.is = true;
  await expect.poll(() => second.counted("discovery errors")).toBeGreaterThan(1);
  expect(knows()).toBe(true);
  expect(second.wanted()?.gone.has("deployments.apps")).toBe(false);
  broken.is = false;
  await second.stop();
});

it("a new process changes nothing that it finds as it was left", async () => {
  const namespace = await freshNamespace();
  await made("GitRepoConfig", `${namespace}/open`, { repoUrl: serverOf("open"), branch: "main" });
  const spec = { repoRef: { name: "open" }, branch: "main", baseFolder: namespace };
  await made("GitDestination", `${namespace}/prod`, spec);
  const one = await rule(namespace, "all", { destinationRef: { name: "prod" } });
  const first = await runConfiguration({ namespaces: [namespace] });
  ends.push(first.stop);
  await expect.poll(said(one)).toBe("True Ready");
  await first.stop();
  const versions = (): Promise<readonly unknown[]> =>
    Promise.all(
      [ref("GitRepoConfig", `${namespace}/open`), ref("GitDestination", `${namespace}/prod`), one].map(
        async (object) => (await administrator.read(object))?.metadata.resourceVersion,
      ),
    );
  const before = await versions();
  // Nobody says anything of the destination yet.
  const second = await runConfiguration({ namespaces: [namespace], silent: [`${namespace}/prod`] });
  ends.push(second.stop);
  await expect
    .poll(said(await rule(namespace, "more", { destinationRef: { name: "none" } })))
    .toBe("False GitDestinationNotFound");
  expect(await versions()).toEqual(before);
  await second.stop();
});

it("tells of a branch that was rewritten, and says what is live all the same", async () => {
  const { url, namespace, git, have, create } = await place();
  const file = (name: string): string => `prod/core/v1/configmaps/${namespace}/${name}.yaml`;
  await controllerOf(namespace);
  await create(...configuration(url), configMap("a"));
  await have([file("a")]);
  git(["update-ref", "-d", "refs/heads/main"]);
  git(
    ["fast-import", "--quiet"],
    "commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse\nM 100644 inline README.md\ndata 1\nx\n",
  );
  await create(configMap("b"));
  await have(["README.md", file("a"), file("b")]);
  await expect
    .poll(async () => (await eventsOf(namespace, "prod")).map(({ type, reason }) => `${type} ${reason}`))
    .toContain("Warning HistoryRewritten");
});

it("nobody writes with the credentials of another namespace, even if he names the same repository first", async () => {
  const authorization = `Basic ${Buffer.from(`alice:${PASSWORD}`).toString("base64")}`;
  const { url, namespace, have, files, create } = await place({ authorization });
  const evil = await freshNamespace();
  const object = async (kind: string, name: string, spec: JsonObject): Promise<Manifest> =>
    made(kind, `${evil}/${name}`, spec);
  await object("GitRepoConfig", "repo", { repoUrl: url, allowedBranches: ["main"] });
  const theirs = await object("GitDestination", "evil", {
    repoRef: { name: "repo" },
    branch: "main",
    baseFolder: "evil",
  });
  await object("WatchRule", "all", { destinationRef: { name: "evil" }, rules: [{ resources: ["configmaps"] }] });
  await administrator.create(within(evil, configMap("theirs")));
  const [repo, ...others] = configuration(url);
  await create(secret("cred", { username: "alice", password: PASSWORD }), ...others, configMap("ours"), {
    ...(repo as Manifest),
    spec: { repoUrl: url, allowedBranches: ["main"], secretRef: { name: "cred" } },
  });
  await controllerOf(namespace, { flags: { watchNamespaces: [namespace, evil] } });
  await have([`prod/core/v1/configmaps/${namespace}/ours.yaml`]);
  await expect.poll(said(theirs)).toBe("False GitRepoConfigNotReady");
  await create(configMap("later"));
  await have(["later", "ours"].map((name) => `prod/core/v1/configmaps/${namespace}/${name}.yaml`));
  expect(Object.keys(files()).filter((at) => at.startsWith("evil"))).toEqual([]);
});

it("files of a kind that was removed while no journal ran go, and those in a folder that only looks like one stay", async () => {
  const { url, namespace, git, have, create } = await place();
  const group = `${namespace}.example.org`;
  const definition = widgetsOf(group);
  await administrator.create(definition);
  onTestFinished(() => administrator.remove(definition));
  const widget: Manifest = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w" } };
  await expect
    .poll(() =>
      create(widget).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await create(...configuration(url, ["*"], { apiGroups: [group] }));
  const first = await controllerOf(namespace);
  const file = `prod/${group}/v1/widgets/${namespace}/w.yaml`;
  await have([file]);
  await first.stop();
  await administrator.remove(definition);
  const base = `prod/${group}/v1/base/${namespace}/mine.yaml`;
  const mine = `apiVersion: ${group}/v1\nkind: Kustomized\nmetadata:\n  name: mine\n  namespace: ${namespace}\n`;
  commitsElsewhere(git, base, mine);
  await have([base, file]);
  await controllerOf(namespace);
  await have([base]);
});

const repositoryAt = (namespace: string, repoUrl: string, n = 0) =>
  made("GitRepoConfig", `${namespace}/repo${n}`, { repoUrl, allowedBranches: ["main"] });

it("a namespace whose servers do not answer keeps no other one from being asked", async () => {
  const [slow, quick] = [await freshNamespace(), await freshNamespace()];
  const [silent, open] = [
    await startGitServer({ tls: false, fault: () => "silence" }),
    await startGitServer({ tls: false }),
  ];
  onTestFinished(silent.stop);
  onTestFinished(open.stop);
  await Promise.all(Array.from({ length: 12 }, (_, n) => repositoryAt(slow, `${silent.url}/${n}`, n)));
  const own = await runConfiguration({ namespaces: [slow, quick] });
  onTestFinished(own.stop);
  await own.synced;
  await repositoryAt(quick, open.url);
  await expect.poll(said(ref("GitRepoConfig", `${quick}/repo0`))).toMatch(/BranchFound/u);
});
