// Asks the API server for the name of the user who runs the command.
import { asObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "./cluster.ts";
import { conclusive } from "./conclusive.ts";
import { selfReviews } from "./resources.ts";

/**
 * Reads the name that the API server has for the user who runs the command, `--as` included.
 *
 * @returns null where it does not say: as the value of an annotation in a merge patch, that removes the name of
 *          whoever acted before.
 */
export const readUserName = async ({ api }: Cluster): Promise<string | null> => {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const answer = await conclusive(api, { verb: "create", resource: selfReviews, body });
  const { userInfo } = asObject(E.isRight(answer) ? answer.right["status"] : undefined);
  const { username } = asObject(userInfo);
  return typeof username === "string" && username !== "" ? username : null;
};
