import { type ApiError, type Client, connect, type ConnectOptions, type KubeObject, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, expect, onTestFinished } from "vitest";
import { controlPlane } from "../fixtures/cluster.ts";

/** Of whoever the kubeconfig is for; closed after the test. */
export const client = (options: ConnectOptions = {}, kubeconfig: string = controlPlane.kubeconfig): Client => {
  const made = open(options, kubeconfig);
  onTestFinished(() => made.close());
  return made;
};

/** As {@link client}, for all tests of a file. */
export const sharedClient = (): Client => {
  const made = open({}, controlPlane.kubeconfig);
  afterAll(() => made.close());
  return made;
};

const open = (options: ConnectOptions, kubeconfig: string): Client =>
  connect(right(loadConfig({ KUBECONFIG: kubeconfig })), options);

/** What came, where an error would be a failure of the test. */
export const right = <T>(either: E.Either<unknown, T>): T => {
  if (E.isLeft(either)) throw new Error(JSON.stringify(either.left));
  return either.right;
};

export const refused = (code: number, reason: string, message = ""): E.Either<ApiError, KubeObject> =>
  E.left(expect.objectContaining({ type: "refused", code, reason, message: expect.stringContaining(message) }));

export const configMap = (name: string, fields: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  ...fields,
});
