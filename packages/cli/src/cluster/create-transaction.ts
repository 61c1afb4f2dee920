// Creates a Transaction, records its author, and then creates the objects with its contents.
import { LAST_EDITED_BY, REQUESTED_BY, transactions } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import type { Create } from "@janus/kube";
import { isTaken } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Failure, OUTCOME_UNKNOWN } from "../failure.ts";
import { contentsAside } from "../manifests/contents-aside.ts";
import { cannotUse, type Cluster } from "./cluster.ts";
import { checkContents, createContents } from "./create-contents.ts";
import { readTransaction, type Stored } from "./transactions.ts";
import { readUserName } from "./user-name.ts";

/** Says what to do where this Transaction already has the name. */
export const nameTaken = ({ txn }: Stored): string => {
  const { namespace, name } = txn.metadata;
  const [what, on] = [`Transaction ${namespace}/${name} exists`, `${name} -n ${namespace}`];
  switch (txn.spec.lifecycle) {
    case "Draft":
      return `${what}, and is a Draft: choose another name, or edit it: kubectl janus edit ${on}`;
    case "Proposed":
      return `${what}, and is Proposed: choose another name. To look at it: kubectl janus describe ${on}`;
    case "Published":
      return (
        `${what}, and its spec cannot be changed: choose another name. ` +
        `To see how it went: kubectl janus explain ${on}`
      );
  }
};

/** The request that creates a Transaction, and records who does so. */
export const creationOf = async (cluster: Cluster, manifest: TransactionManifest): Promise<Create> => {
  const { metadata } = manifest;
  const user = await readUserName(cluster);
  const by = user === null ? {} : { [REQUESTED_BY]: user, [LAST_EDITED_BY]: user };
  return {
    verb: "create",
    resource: transactions,
    namespace: cluster.namespace,
    body: { ...manifest, metadata: { ...metadata, annotations: { ...metadata.annotations, ...by } } },
    fieldManager: "kubectl-janus",
  };
};

/**
 * Creates a Transaction, and records who does so. Contents that are large or secret are kept in objects that go with it. It is
 * created before these: whatever ends the command in between, nothing is left when the Transaction is deleted.
 *
 * @returns its uid
 * Errors: if there is one of that name; if the API server refuses it; with exit code 5 if it may have been created all the same.
 */
export const createTransaction = async (
  cluster: Cluster,
  manifest: TransactionManifest,
): Promise<string | undefined> => {
  const { api, namespace } = cluster;
  const { name } = manifest.metadata;
  const aside = contentsAside(manifest, namespace);
  const { serviceAccountName, lifecycle } = manifest.spec;
  await checkContents(cluster, aside.objects, lifecycle === "Draft" ? undefined : serviceAccountName);
  const answer = await api.send(await creationOf(cluster, aside.manifest));
  if (E.isRight(answer)) {
    const { uid } = answer.right.metadata;
    await createContents(cluster, aside.objects, { name, uid: uid ?? "" });
    return uid;
  }
  const { left: error } = answer;
  if (isTaken(error)) throw new Failure(nameTaken(await readTransaction(cluster, name)));
  const why = `cannot create Transaction ${namespace}/${name}: ${cannotUse(error)}`;
  // A server that fails, or a proxy in front of it, does not say whether it had been created before.
  const mayExist =
    error.type === "unanswered" ? error.cause !== "never-sent" : error.type === "refused" && error.code >= 500;
  throw mayExist
    ? new Failure(
        `${why}. It may have been created all the same: kubectl janus get ${name} -n ${namespace}`,
        OUTCOME_UNKNOWN,
      )
    : new Failure(why);
};
