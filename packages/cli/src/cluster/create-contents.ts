// Creates the ConfigMaps and Secrets with contents that are too large or too secret for the spec.
import type { Manifest } from "@janus/authoring";
import { configMaps, secrets } from "@janus/controller";
import type { Create } from "@janus/kube";
import { asObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";
import { ownedBy } from "../manifests/contents-aside.ts";
import type { Cluster } from "./cluster.ts";
import { conclusive, told } from "./conclusive.ts";
import { accessReviews } from "./resources.ts";

const resourceOf = ({ kind }: Manifest) => (kind === "Secret" ? secrets : configMaps);

const create = async ({ api, namespace }: Cluster, body: Manifest, dryRun: boolean, what: string): Promise<void> => {
  const { name } = body.metadata;
  const request: Create = {
    verb: "create",
    resource: resourceOf(body),
    namespace,
    body: { ...body, metadata: { ...body.metadata, namespace } },
    fieldManager: "kubectl-janus",
    dryRun,
  };
  const answer = await (dryRun ? conclusive(api, request) : api.send(request));
  if (E.isRight(answer)) return;
  const why = dryRun ? told(answer.left) : messageOf(answer.left);
  throw new Failure(`${what} ${body.kind} ${namespace}/${name}: ${why}`);
};

/**
 * Checks, before anything is created, that the user may create the objects with the contents of a Transaction, and that its
 * ServiceAccount may read them.
 *
 * @param serviceAccount absent: that of a Draft, whose render says so.
 */
export const checkContents = async (
  cluster: Cluster,
  objects: readonly Manifest[],
  serviceAccount?: string,
): Promise<void> => {
  const { api, namespace } = cluster;
  for (const object of objects) {
    await create(cluster, object, true, "cannot keep contents of the Transaction in");
    if (serviceAccount === undefined) continue;
    const { plural } = resourceOf(object);
    const answer = await conclusive(api, {
      verb: "create",
      resource: accessReviews,
      as: { user: `system:serviceaccount:${namespace}:${serviceAccount}` },
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: {
          resourceAttributes: { version: "v1", resource: plural, verb: "get", namespace, name: object.metadata.name },
        },
      },
    });
    // Who must not ask must not use it either: that is said when the Transaction is created.
    if (E.isRight(answer) && asObject(answer.right["status"])["allowed"] !== true)
      throw new Failure(
        `ServiceAccount ${serviceAccount} may not read ${object.kind}s in namespace ${namespace}, and contents of the Transaction are kept in one: ` +
          `grant it the verb get on ${plural} in namespace ${namespace}`,
      );
  }
};

/** Creates them as objects that go with the Transaction, for which it waits. */
export const createContents = async (
  cluster: Cluster,
  objects: readonly Manifest[],
  { name, uid }: { readonly name: string; readonly uid: string },
): Promise<void> => {
  for (const object of objects)
    await create(
      cluster,
      ownedBy(object, name, uid),
      false,
      `Transaction ${cluster.namespace}/${name} is not executed, since its contents cannot be kept in`,
    );
};
