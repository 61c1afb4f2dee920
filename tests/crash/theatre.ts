import { type Api, connect, discovery, loadConfig, type Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll } from "vitest";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { cast, type Casting } from "./play.ts";
import { installRefusal } from "./refusal.ts";
import { installTransactions } from "./transactions.ts";
import { KINDS } from "./world.ts";

/**
 * A control plane of this file's own: hundreds of namespaces would keep the controllers of the shared one busy.
 * @param kinds that are looked at besides, and how they are installed
 */
export const theatre = (
  kinds: readonly Resource[] = [],
  install: (api: Api) => Promise<void> = async () => {},
): (() => Casting) => {
  let controlPlane: ControlPlane | undefined;
  let casting: Casting | undefined;
  beforeAll(async () => {
    controlPlane = await startControlPlane();
    const config = loadConfig({}, controlPlane.kubeconfig);
    if (E.isLeft(config)) throw new Error(config.left);
    const api = connect(config.right, { connections: 512 });
    await installTransactions(api);
    await installRefusal(api);
    await install(api);
    casting = cast(config.right, api, discovery(api), [...KINDS, ...kinds]);
  });
  afterAll(async () => {
    casting?.seen.end();
    await controlPlane?.stop();
  });
  return () => {
    if (casting === undefined) throw new Error("the theatre is not open yet");
    return casting;
  };
};
