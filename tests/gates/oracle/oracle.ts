import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { platform } from "../../control-plane/binaries/binary.ts";
import { cacheRoot, ensureDirectory } from "../../control-plane/binaries/cache.ts";
import { withLock } from "../../control-plane/binaries/lock.ts";
import { withProgress } from "../../control-plane/progress.ts";

const SOURCES = ["go.mod", "go.sum", "main.go"];
const source = (name: string): string => path.join(import.meta.dirname, name);

const directory = path.join(cacheRoot(process.env), "oracle");

/** What it is built from is part of its name, so that one of other sources is never used. */
const placeOf = async (): Promise<string> => {
  const hash = createHash("sha256");
  for (const name of SOURCES) hash.update(await readFile(source(name)));
  return path.join(directory, `gates-${hash.digest("hex").slice(0, 16)}-${platform.os}-${platform.arch}`);
};

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  );

const build = async (place: string): Promise<void> => {
  const scratch = await mkdtemp(path.join(directory, ".building-"));
  try {
    const built = path.join(scratch, "oracle");
    await promisify(execFile)("go", ["build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", built, "."], {
      cwd: import.meta.dirname,
      env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" },
    });
    await rename(built, place);
  } catch (error) {
    throw new Error("The oracle of the gates could not be built. It takes Go 1.26 or newer, and its module proxy", {
      cause: error,
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/** Whether there is something to compare with: Node and npm are enough to work on this repository, and Go is not everywhere. */
export const hasOracle = async (): Promise<boolean> => {
  const isBuilt = await isThere(await placeOf());
  const version = isBuilt ? undefined : await promisify(execFile)("go", ["version"]).catch(() => undefined);
  if (isBuilt || version !== undefined) return true;
  console.log("There is no Go to build the oracle of the gates with: nothing is compared");
  return false;
};

/**
 * Finds the program that is compared with: in the cache, or built with Go from the sources beside this file.
 *
 * Guarantees: nothing is fetched once it was built; several processes may do this at the same time.
 */
const findOracle = async (): Promise<string> => {
  const place = await placeOf();
  if (await isThere(place)) return place;
  await ensureDirectory(directory);
  await withLock(path.join(directory, ".lock"), console.log, async () => {
    if (!(await isThere(place)))
      await withProgress(console.log, "Building the oracle of the gates with go (a minute, once)", () => build(place));
  });
  return place;
};

/** Asks all at once; the answers come in the order of the questions. */
export const askOracle = async <Answer>(
  subject: "kstatus" | "jsonpath",
  questions: readonly object[],
): Promise<readonly Answer[]> => {
  const oracle = spawn(await findOracle(), [subject], { stdio: ["pipe", "pipe", "inherit"] });
  oracle.stdin.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
  const answers = (await text(oracle.stdout)).split("\n").filter((line) => line !== "");
  if (answers.length !== questions.length)
    throw new Error(`${answers.length} answers to ${questions.length} questions: the oracle has ended early`);
  return answers.map((line) => JSON.parse(line) as Answer);
};
