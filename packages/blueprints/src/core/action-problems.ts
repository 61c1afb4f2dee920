// Finds what is wrong with an action of an ActionSet against its Blueprint, without a cluster.
import { report } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { ActionSpec } from "../api/action-set.ts";
import { Blueprint } from "../api/blueprint.ts";
import { actionNamed, inputProblems } from "./resolve.ts";

/**
 * Says that the Blueprint has no such action, and what that needs and is not given; in the words of the controller.
 *
 * @param blueprint the object, and the action, as they are written
 */
export const inputProblemsOf = (blueprint: unknown, action: unknown): readonly string[] => {
  const wanted = Blueprint.decode(blueprint);
  const given = ActionSpec.decode(action);
  if (E.isLeft(given)) return [report(given.left)];
  // It is said of the Blueprint itself.
  if (E.isLeft(wanted)) return [];
  const { name = "", blueprint: called = "" } = given.right;
  const found = actionNamed(wanted.right, `Blueprint ${called}`, name);
  return E.isLeft(found) ? [found.left] : inputProblems(name, found.right, given.right);
};
