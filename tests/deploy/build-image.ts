import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { copyBuildContext } from "./build-context.ts";
import { parseDockerfile, type Stage } from "./dockerfile.ts";

/** What a stage of a Dockerfile leaves: its files, and how its program is started. */
export interface Image {
  /** The directory that is `/` in the image. */
  readonly root: string;
  readonly workdir: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
}

/** COPY of one source: a file goes into the directory, of a directory what is in it. */
const copy = (source: string, directory: string): void => {
  const target = statSync(source).isDirectory() ? directory : path.join(directory, path.basename(source));
  cpSync(source, target, { recursive: true, verbatimSymlinks: true });
};

const run = (command: string, cwd: string): void => {
  const env = { ...process.env, NODE_ENV: "", PATH: `${path.dirname(process.execPath)}:${process.env["PATH"]}` };
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`RUN ${command} ended with ${status}:\n${stdout}\n${stderr}`);
};

const buildStage = (stage: Stage, root: string, rootOf: (stage: string | undefined) => string): Image =>
  stage.instructions.reduce<Image>(
    (image, { keyword, argument }) => {
      const inside = (file: string): string => path.join(root, path.resolve(image.workdir, file));
      switch (keyword) {
        case "WORKDIR":
          mkdirSync(inside(argument), { recursive: true });
          return { ...image, workdir: path.resolve(image.workdir, argument) };
        case "COPY": {
          const [, from, files = ""] = /^(?:--from=(\S+) )?(.*)$/.exec(argument) ?? [];
          const [target = ".", ...sources] = files.split(" ").toReversed();
          for (const source of sources) copy(path.join(rootOf(from), source), inside(target));
          return image;
        }
        case "RUN":
          run(argument, inside("."));
          return image;
        case "USER":
          return { ...image, user: argument };
        case "ENTRYPOINT":
          return { ...image, entrypoint: JSON.parse(argument) as readonly string[] };
        case "ENV":
        case "EXPOSE":
          return image;
        default:
          throw new Error(`${keyword} ${argument}: this is not understood here yet.`);
      }
    },
    { root, workdir: "/", user: "", entrypoint: [] },
  );

/** Those that the last one copies from, and it. */
const neededStages = (all: readonly Stage[]): readonly Stage[] => {
  const needed = (stage: Stage): readonly Stage[] => [
    ...all
      .filter(({ name }) => stage.instructions.some(({ argument }) => argument.startsWith(`--from=${name} `)))
      .flatMap(needed),
    stage,
  ];
  const last = all.at(-1);
  if (last === undefined) throw new Error("The Dockerfile has no FROM.");
  return [...new Set(needed(last))];
};

/**
 * Follows the Dockerfile of `repository` in the empty directory `into`, without a container engine: COPY copies, RUN runs in the
 * directory of its stage with the Node that runs this.
 *
 * Returns: the last stage; those that it copies from are in its sibling directories.
 * Assumes: base images bring Node, npm and a shell, and no files that matter; RUN uses paths relative to WORKDIR.
 * Throws:  at the first RUN that fails, with what it printed.
 */
export const buildImage = (repository: string, into: string): Image => {
  const context = path.join(into, "context");
  copyBuildContext(repository, context);
  const rootOf = (stage: string | undefined): string => (stage === undefined ? context : path.join(into, stage));
  const stages = neededStages(parseDockerfile(readFileSync(path.join(repository, "Dockerfile"), "utf8")));
  const images = stages.map((stage) => buildStage(stage, rootOf(stage.name), rootOf));
  return images.at(-1) as Image;
};
