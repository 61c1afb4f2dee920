// The identity that commits: the cluster, and this controller, which keeps its name as long as it keeps its work directory.
import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "@janus/kube";
import type { Log } from "@janus/runtime/parts";
import { messageOf, namespaces } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

const PAUSE = 2_000;

/** Reads the uid of the namespace kube-system, which stands for the cluster, until it is known; undefined: aborted. */
export const clusterUid = async (api: Api, log: Log, signal: AbortSignal): Promise<string | undefined> => {
  while (!signal.aborted) {
    const answer = await api.send({ verb: "get", resource: namespaces, name: "kube-system", purpose: "cluster-uid" });
    if (E.isRight(answer)) return answer.right.metadata.uid ?? "";
    log("warn", "the namespace kube-system cannot be read; trying again", { error: messageOf(answer.left) });
    await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
};

/** Returns the holder of Leases: that of before, if the directory was used before. */
export const identityIn = async (directory: string, pod: string): Promise<string> => {
  const file = path.join(directory, "identity");
  const known = await readFile(file, "utf8").catch(() => "");
  if (/^\S+_[0-9a-f-]{36}$/u.test(known)) return known;
  const made = `${pod}_${randomUUID()}`;
  await writeFile(`${file}.new`, made);
  await rename(`${file}.new`, file);
  return made;
};
