import { type Api, leases, type Request, type Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { sentence } from "../core/index.ts";
import { bearing, isFenced } from "./fence.ts";

const selfSubjectReviews: Resource = {
  group: "authentication.k8s.io",
  version: "v1",
  plural: "selfsubjectreviews",
  kind: "SelfSubjectReview",
  namespaced: false,
  statusSubresource: false,
};

const whoAmI: Request = {
  verb: "create",
  purpose: "fence-check",
  resource: selfSubjectReviews,
  body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
};

/** Of no term: they are counted from 1. */
const overForEver = "nobody/-1";

/**
 * Whether the API server refuses what was decided in a term that is over: the dry run of such a write, as ourselves.
 *
 * @returns Left: why that cannot be told.
 */
export const isFenceUp = async (api: Api, namespace: string): Promise<E.Either<string, boolean>> => {
  const review = await api.send(whoAmI);
  if (E.isLeft(review)) return E.left(sentence(review.left));
  const { userInfo } = review.right["status"] as { readonly userInfo: { readonly username: string } };
  const name = "janus-fence-check";
  const write: Request = {
    verb: "create",
    purpose: "fence-check",
    resource: leases,
    namespace,
    as: { user: userInfo.username },
    dryRun: true,
    body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, spec: {} },
  };
  const answer = await api.send(bearing(overForEver, write));
  if (isFenced(answer)) return E.right(true);
  return E.isRight(answer) ? E.right(false) : E.left(sentence(answer.left));
};
