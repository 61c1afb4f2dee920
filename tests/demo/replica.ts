import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { LeaderStatus } from "@janus/controller";
import { component } from "../control-plane/component.ts";
import { freePorts } from "../control-plane/free-ports.ts";
import type { Leash } from "../control-plane/leash.ts";

/** One controller, as a process of its own, that can be killed and started again. */
export interface Replica {
  readonly name: string;
  /** Where it serves health, status and metrics. */
  readonly url: string;
  readonly pid: () => number | undefined;
  /** What it says at `/status`; undefined when it does not answer. */
  readonly status: () => Promise<LeaderStatus | undefined>;
  /** Resolves when it is ready. From then on it is started again when it ends by itself, as a kubelet would. */
  readonly start: () => Promise<void>;
  /** SIGKILL; resolves when it is gone. It stays so until it is started. */
  readonly kill: () => Promise<void>;
  /** Kills it for good. */
  readonly end: () => Promise<void>;
  /** What it has to complain of, newest last. */
  readonly complaints: () => Promise<readonly string[]>;
}

const source = path.resolve(import.meta.dirname, "../../packages/controller/src/shell/main.ts");
const lookEvery = 1000;

/** @param home a directory that the leash deletes */
export const replica = async (name: string, flags: readonly string[], home: string, held: Leash): Promise<Replica> => {
  const directory = path.join(home, name);
  await mkdir(directory);
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const ask = (at: string) => fetch(`${url}${at}`, { signal: AbortSignal.timeout(2000) });
  const running = component(
    {
      name,
      file: process.execPath,
      args: ["--conditions=source", source, `--http-port=${port}`, ...flags],
      directory,
      isReady: () =>
        ask("/readyz").then(
          ({ ok }) => ok,
          () => false,
        ),
    },
    held,
    () => {},
  );
  let isEnded = false;
  let kubelet: NodeJS.Timeout | undefined;

  const start = async (): Promise<void> => {
    if (isEnded) throw new Error(`${name} was ended for good`);
    await running.start();
    clearInterval(kubelet);
    kubelet = isEnded ? undefined : setInterval(() => running.pid() ?? void start().catch(() => {}), lookEvery);
  };
  const kill = async (): Promise<void> => {
    clearInterval(kubelet);
    await running.kill();
  };

  return {
    name,
    url,
    pid: running.pid,
    status: () =>
      ask("/status")
        .then((answer) => answer.json() as Promise<LeaderStatus>)
        .catch(() => undefined),
    start,
    kill,
    end: async () => {
      isEnded = true;
      await kill();
    },
    complaints: async () => {
      const lines = (await readFile(path.join(directory, `${name}.log`), "utf8")).trim().split("\n");
      return lines.filter((line) => !/"level":"(debug|info)"/.test(line)).slice(-20);
    },
  };
};
