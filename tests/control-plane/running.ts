import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { cacheRoot } from "./binaries/cache.ts";
import { answers } from "./probe.ts";
import { type Facts, readFacts } from "./state.ts";

/** Where a control plane that is kept running says where its state is, so that test runs find it. */
export const signpost = (): string => path.join(cacheRoot(process.env), "running");

/** The control plane that is kept running, if there is one and it answers. */
export const findRunning = async (): Promise<Facts | undefined> => {
  const directory = await readFile(signpost(), "utf8").catch(() => undefined);
  const facts = directory === undefined ? undefined : await readFacts(directory).catch(() => undefined);
  return facts !== undefined && (await answers(facts, "/readyz")) ? facts : undefined;
};

export const putSignpost = async ({ directory }: Facts): Promise<void> => {
  await mkdir(path.dirname(signpost()), { recursive: true });
  await writeFile(`${signpost()}.${process.pid}`, directory);
  await rename(`${signpost()}.${process.pid}`, signpost());
};

/** Takes it down, unless by now it shows the way to another one. */
export const removeSignpost = async ({ directory }: Facts): Promise<void> => {
  const there = await readFile(signpost(), "utf8").catch(() => undefined);
  if (there === directory) await rm(signpost(), { force: true });
};
