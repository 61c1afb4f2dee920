import { setTimeout as sleep } from "node:timers/promises";
import { GROUP, type JsonObject, KIND, PLURAL, transactionCrd, VERSION } from "@janus/api";
import { type Api, connect, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { controlPlane, kubectlWith, type Outcome } from "../fixtures/cluster.ts";

/** Applies the CRD as strictly as kubectl can, and waits until it is served. */
export const installCrd = async (): Promise<Outcome> => {
  const outcome = await kubectlWith(
    { stdin: JSON.stringify(transactionCrd) },
    "apply",
    "--server-side",
    "--force-conflicts",
    "--validate=strict",
    "--warnings-as-errors",
    "-f",
    "-",
  );
  for (let tries = 0; outcome.code === 0 && tries < 400; tries++) {
    const listed = await kubectlWith({}, "get", "--raw", `/apis/${GROUP}/${VERSION}/${PLURAL}`);
    if (listed.code === 0) return outcome;
    await sleep(50);
  }
  return { ...outcome, code: outcome.code || 1 };
};

/** An administrator's connection to the API server. */
export const administrator = (): Api & { close(): Promise<void> } => {
  const config = loadConfig({}, controlPlane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  // The largest Transactions take the API server of a busy machine some seconds.
  return connect(config.right, { writeTimeout: 30_000, deadline: 40_000 });
};

export const transaction = (namespace: string, name: string, spec: unknown): JsonObject =>
  ({ apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { namespace, name }, spec }) as JsonObject;
