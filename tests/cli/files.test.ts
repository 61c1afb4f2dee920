import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { janusWith, start } from "./command-line.ts";

const folder = (): string => {
  const made = mkdtempSync(path.join(tmpdir(), "janus-files-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
};

const write = (directory: string, name: string): void => {
  mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
  writeFileSync(path.join(directory, name), JSON.stringify(configMap(path.basename(name).replace(/\.\w+$/u, ""))));
};

/** kubectl is where a test puts it. */
const tools = (): string => {
  const directory = folder();
  symlinkSync(controlPlane.binaries.kubectl, path.join(directory, "kubectl"));
  return directory;
};

const plan = async (args: readonly string[], { stdin = "", PATH = process.env["PATH"] ?? "" } = {}) => {
  const { code, stdout, stderr } = await start(["plan", ...args, "-n", "default", "-o", "json"], {
    stdin,
    env: { PATH },
  }).ended;
  const { spec } = (stdout === "" ? { spec: { changes: [] } } : JSON.parse(stdout)) as {
    spec: { changes: readonly { target: { name: string }; content: { readonly [field: string]: unknown } }[] };
  };
  return { code, stderr, names: spec.changes.map(({ target }) => target.name), changes: spec.changes };
};

it("takes files, lists of files, patterns, and directories with -R, as kubectl does", async () => {
  const at = folder();
  for (const name of ["a.yaml", "b.yml", "c.json", "d.txt", "more/e.yaml", "more/f.yaml"]) write(at, name);
  const files = (...names: readonly string[]) => names.map((name) => path.join(at, name)).join(",");
  expect(await plan(["-f", at])).toMatchObject({ code: 0, names: ["a", "b", "c"] });
  expect(await plan(["-f", at, "-R"])).toMatchObject({ code: 0, names: ["a", "b", "c", "e", "f"] });
  expect(await plan(["-f", files("d.txt", "a.yaml"), "-f", files("more")])).toMatchObject({
    names: ["d", "a", "e", "f"],
  });
  expect(await plan(["-f", files("*.y*ml")])).toMatchObject({ names: ["a", "b"] });
  expect(await plan(["-f", files("a.yaml"), "-f", "-"], { stdin: JSON.stringify(configMap("in")) })).toMatchObject({
    names: ["a", "in"],
  });
});

it("says in kubectl's words that a path does not exist, and that there is none", async () => {
  expect(await plan(["-f", "none.yaml"])).toMatchObject({
    stderr: 'error: the path "none.yaml" does not exist\n',
    code: 3,
  });
  expect(await plan([])).toMatchObject({ stderr: "error: must specify one of -f and -k\n" });
  expect(await plan(["-f", "-", "-k", "."])).toMatchObject({
    stderr: "error: only one of -f or -k can be specified\n",
  });
});

const served = async (answer: RequestListener): Promise<string> => {
  const server = createServer(answer);
  onTestFinished(() => void server.close());
  onTestFinished(() => server.closeAllConnections());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** One at which nobody listens any more. */
const closedPort = async (): Promise<number> => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
};

it("takes a URL, and says why it cannot be read", async () => {
  const server = await served((request, response) => {
    if (request.url === "/moved") response.writeHead(302, { location: "/a.yaml" }).end();
    else if (request.url === "/a.yaml") response.end(JSON.stringify(configMap("far")));
    else if (request.url === "/endless") {
      const more = (): void => {
        while (response.write(Buffer.alloc(1 << 20, "#")));
        response.once("drain", more);
      };
      more();
    } else response.writeHead(404).end("<html>");
  });
  expect(await plan(["-f", `${server}/a.yaml`])).toMatchObject({ code: 0, names: ["far"] });
  expect(await plan(["-f", `${server}/moved`])).toMatchObject({ code: 0, names: ["far"] });
  const unable = async (url: string) => (await plan(["-f", url])).stderr;
  expect(await unable(`${server}/b.yaml`)).toBe(
    `error: unable to read URL "${server}/b.yaml": server reported 404 Not Found\n`,
  );
  expect(await unable(`${server}/endless`)).toBe(
    `error: unable to read URL "${server}/endless": it is larger than 32 MiB\n`,
  );
  expect(await unable(`http://127.0.0.1:${await closedPort()}`)).toMatch(
    /^error: unable to read URL "\S+": dial 127\.0\.0\.1:\d+: connection refused - did you specify the right host or port\?\n$/u,
  );
});

it("takes with -k what kubectl kustomize makes of a directory", async () => {
  const at = folder();
  write(at, "a.json");
  writeFileSync(path.join(at, "kustomization.yaml"), "resources: [a.json]\nnamePrefix: prod-\n");
  const PATH = `${tools()}:${process.env["PATH"]}`;
  expect(await plan(["-k", at], { PATH })).toMatchObject({ code: 0, names: ["prod-a"] });
  rmSync(path.join(at, "kustomization.yaml"));
  const { code, stderr } = await plan(["-k", at], { PATH });
  expect(code).toBe(3);
  expect(stderr).toMatch(/^error: kubectl kustomize \S+: unable to find one of 'kustomization\.yaml'/u);
  // Without kubectl in the $PATH, what it takes is said.
  const nothing = folder();
  expect(await plan(["-k", at], { PATH: nothing })).toMatchObject({
    stderr: `error: -k needs kubectl in $PATH. Without it: kustomize build ${at} | kubectl-janus apply -f -\n`,
  });
});

it("gives the cluster the very texts that a file has: commits and dots are no numbers", async () => {
  const manifest = `apiVersion: v1
kind: ConfigMap
metadata: {name: release, annotations: {commit: e5481620}}
data: {workdir: ., commit: 7e12345, part: ._1}
`;
  const { namespace, read, janus: controller } = await workspace();
  await controller();
  const flags = ["-n", namespace, "--service-account", "deployer"];
  expect(await janusWith(manifest, "apply", "-f", "-", ...flags)).toMatchObject({ code: 0, stderr: "" });
  expect(await read(configMap("release"))).toMatchObject({
    metadata: { annotations: { commit: "e5481620" } },
    data: { workdir: ".", commit: "7e12345", part: "._1" },
  });
});

it("says of a manifest with generateName that it needs a name", async () => {
  const manifest = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-}\nspec: {}\n";
  expect(await plan(["-f", "-"], { stdin: manifest })).toMatchObject({
    code: 3,
    stderr:
      "error: standard input, line 1: Job: generateName cannot be used: a change needs the exact name of its target; set metadata.name\n",
  });
  const isFalse = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: no}\n";
  expect(await plan(["-f", "-"], { stdin: isFalse })).toMatchObject({
    stderr: "error: standard input, line 1: metadata.name is not a text: put it in quotes\n",
  });
});

const hook = (name: string, annotation: string, moments: string) => ({
  ...configMap(name),
  metadata: { name, annotations: { [annotation]: moments } },
});

it("warns of hooks among the manifests: here they are objects like all others", async () => {
  const all = [
    configMap("a"),
    hook("clean", "helm.sh/hook", "pre-delete"),
    hook("sync", "argocd.argoproj.io/hook", "SyncFail"),
  ];
  const stdin = all.map((one) => JSON.stringify(one)).join("\n");
  expect(await plan(["-f", "-"], { stdin })).toMatchObject({
    code: 0,
    names: ["a", "clean", "sync"],
    stderr:
      "Warning: hooks are applied like all other objects, each in the order of its kind: " +
      "ConfigMap clean (Helm: pre-delete), ConfigMap sync (Argo CD: SyncFail). Leave out those that are for a deletion, " +
      "a rollback, a test or a failure (helm template --no-hooks leaves out all)\n",
  });
  expect((await plan(["-f", "-"], { stdin: JSON.stringify(configMap("a")) })).stderr).toBe("");
});
