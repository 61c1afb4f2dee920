import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { JsonObject } from "@janus/types";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { secretsOf } from "../../packages/git-journal/src/core/age-keys.ts";
import { gitJournalCrds } from "../../packages/git-journal/src/index.ts";
import { fileText } from "../../packages/git-journal/src/shell/sops.ts";
import { commandsOf } from "../deploy/page-commands.ts";
import { controlPlane, kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { type Shell, shellOf } from "../fixtures/shell.ts";
import { hasSops, sopsDirectory } from "../git-journal/sops/tools.ts";

const page = "docs/git-secrets.md";

const recipients = async (): Promise<readonly string[]> => {
  const { stdout } = await kubectl("get", "gitdestination", "-n=shop", "prod", "-o=json");
  const { spec } = JSON.parse(stdout) as { readonly spec: { readonly secrets: { ageRecipients: string[] } } };
  return spec.secrets.ageRecipients;
};

describe.runIf(await hasSops())("docs/git-secrets.md", () => {
  let home: string;
  let programs: string;
  let shell: Shell;
  beforeAll(async () => {
    programs = await sopsDirectory();
    home = await mkdtemp(path.join(os.tmpdir(), "janus-git-secrets-"));
    shell = shellOf({ ...controlPlane, directory: home }, { path: [programs] });
    await kubectlWith(
      { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items: gitJournalCrds }) },
      "apply",
      "--server-side",
      "--force-conflicts",
      "-f",
      "-",
    );
    await vi.waitUntil(async () => (await kubectl("get", "gitdestinations", "-A")).code === 0, 300_000);
    await shell("kubectl create namespace shop");
    const destination = {
      apiVersion: "configbutler.ai/v1alpha1",
      kind: "GitDestination",
      metadata: { name: "prod", namespace: "shop" },
      spec: { repoRef: { name: "mirror" }, branch: "main", baseFolder: "clusters/prod" },
    };
    await kubectlWith({ stdin: JSON.stringify(destination) }, "apply", "--server-side", "-f", "-");
  }, 3_600_000);
  afterAll(async () => {
    await kubectl("delete", "gitdestination", "-n=shop", "prod");
    await rm(home, { recursive: true, force: true });
  });

  const follow = async (heading: string): Promise<string> => {
    let printed = "";
    for (const command of commandsOf(page, heading)) {
      const { code, stdout, stderr } = await shell(command);
      expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
      printed += stdout;
    }
    return printed;
  };

  const publicKey = async (file: string): Promise<string> =>
    (await promisify(execFile)(path.join(programs, "age-keygen"), ["-y", path.join(home, file)])).stdout.trim();

  it("makes a key, encrypts for it, and reads with it what is encrypted", async () => {
    await follow("Keys");
    const set = await recipients();
    expect(set).toEqual([await publicKey("git-secrets.agekey")]);
    expect(secretsOf(new Uint8Array(32), set).problem).toBeUndefined();

    const folder = path.join(home, "mirror/clusters/prod/core/v1/secrets/shop");
    await mkdir(folder, { recursive: true });
    const file: JsonObject = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "db", namespace: "shop" },
      type: "Opaque",
    };
    const data = { password: Buffer.from("correct horse").toString("base64") };
    await writeFile(path.join(folder, "db.yaml"), await fileText({ type: "encrypted", file, data, recipients: set }));
    const printed = await follow("Read a file");
    expect(printed).toContain(`password: ${data.password}`);
    expect(printed).toContain("correct horse");
    const { stdout } = await kubectl("get", "secret", "-n=shop", "db", "-o=jsonpath={.data.password}");
    expect(stdout).toBe(data.password);
  });

  it("gives Flux the key, and replaces it", async () => {
    await shell("kubectl create namespace flux-system");
    await follow("With Flux");
    const { stdout } = await kubectl("get", "secret", "-n=flux-system", "sops-age", "-o=jsonpath={.data.age\\.agekey}");
    expect(Buffer.from(stdout, "base64").toString()).toBe(
      await readFile(path.join(home, "git-secrets.agekey"), "utf8"),
    );
    await follow("Replace a key");
    expect(await recipients()).toEqual([await publicKey("new.agekey")]);
  });
});
