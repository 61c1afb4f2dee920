// Finds out by dry runs and access reviews why the API server would not create a Transaction.
import { POLICIES, transactions } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import type { ApiError } from "@janus/kube";
import { isTaken } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";
import { checkPermissions } from "../story/user-permissions.ts";
import { cannotUse, type Cluster } from "./cluster.ts";
import { conclusive, isPassing, told } from "./conclusive.ts";
import { contentsAside } from "../manifests/contents-aside.ts";
import { creationOf, nameTaken } from "./create-transaction.ts";
import { stored } from "./transactions.ts";

/** Says what to do if there is one of that name. */
const taken = async ({ api, namespace }: Cluster, name: string): Promise<readonly string[]> => {
  const answer = await conclusive(api, { verb: "get", resource: transactions, namespace, name });
  return E.isRight(answer) ? [nameTaken(stored(answer.right))] : [];
};

/** A refusal in the words of `doctor`, if that knows what is wrong. */
const diagnosed = async (
  cluster: Cluster,
  manifest: TransactionManifest,
  error: ApiError,
): Promise<readonly string[]> => {
  const message = cannotUse(error);
  if (error.type !== "refused" || (error.code !== 403 && error.notFound !== "other")) return [message];
  const findings = await checkPermissions(cluster, manifest.spec.serviceAccountName);
  const known = findings.flatMap(({ isFine, what, cure }) => (isFine ? [] : [`${what}: ${cure ?? "see doctor"}`]));
  if (known.length > 0) return known;
  return [message.includes(POLICIES.approval) ? `${message} (kubectl janus plan --draft)` : message];
};

/**
 * Everything for which the API server would not create the Transaction: its name, its spec, admission policies, quotas, and what the
 * user may not do. It is asked by a dry run.
 *
 * Errors: if it does not answer, or with nothing that is about the Transaction, however often it is asked.
 */
export const creationProblems = async (cluster: Cluster, manifest: TransactionManifest): Promise<readonly string[]> => {
  const { name } = manifest.metadata;
  const answer = await conclusive(cluster.api, {
    ...(await creationOf(cluster, contentsAside(manifest, cluster.namespace).manifest)),
    dryRun: true,
  });
  if (E.isRight(answer)) return [];
  const { left: error } = answer;
  if (error.type !== "refused" || isPassing(error))
    throw new Failure(
      `cannot find out whether Transaction ${cluster.namespace}/${name} can be created: ${told(error)}`,
    );
  // The API server looks at the name last.
  const there = await taken(cluster, name);
  return isTaken(error) && there.length > 0 ? there : [...there, ...(await diagnosed(cluster, manifest, error))];
};
