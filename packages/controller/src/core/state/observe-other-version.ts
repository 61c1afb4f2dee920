// Folds reads and dry runs of targets in other versions of their kind into the observations.
import { cut } from "@janus/api";
import { deniedVerb, isAbsent, isUnserved, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type DifferingField, firstPaths } from "../merge/server-mutations.ts";
import { showPaths } from "../merge/show-path.ts";
import { lostThere, onlyThere } from "../merge/version-loss.ts";
import type { OtherVersionFold } from "./fold.ts";
import type { Folds } from "./folding.ts";
import { type Observations, withChange, withPreflight } from "./observations.ts";
import { otherVersionsOf } from "./other-versions.ts";
import type { OtherVersion } from "./preflight-observations.ts";

const MOST_NAMED = 5;

const noted = (
  known: Observations,
  index: number,
  { object, apiVersion }: OtherVersionFold,
  is: OtherVersion,
): Observations =>
  withPreflight(known, index, {
    otherVersions: {
      resourceVersion: object.metadata.resourceVersion,
      versions: new Map([...otherVersionsOf(known, index, object), [apiVersion, is]]),
    },
  });

const unread = (known: Observations, index: number): Observations => withChange(known, index, { target: undefined });

const losing = (fields: readonly DifferingField[]): OtherVersion =>
  fields.length === 0
    ? { type: "same" }
    : { type: "richer", fields: showPaths(firstPaths(fields.slice(0, MOST_NAMED)), true) };

export const otherVersionFolds: Folds<OtherVersionFold> = {
  // One that is served no more says nothing.
  "other-version-read": (known, fold, { effect: { item: index = -1, call }, answer }) => {
    if (E.isLeft(answer)) {
      const { left: fault } = answer;
      const isGone = isAbsent(fault) || isUnserved(fault);
      const is: OtherVersion = isGone ? { type: "same" } : { type: "unreadable", why: cut(messageOf(fault), 100) };
      return noted(known, index, fold, is);
    }
    const { object } = fold;
    const there = answer.right;
    // Another client has written it between the two reads. Nothing is written to what it was, so nothing of that is lost.
    if (there.metadata.resourceVersion !== object.metadata.resourceVersion)
      return noted(unread(known, index), index, fold, { type: "same" });
    const isRicher = onlyThere(object, there, call.place).length > 0;
    return noted(known, index, fold, isRicher ? { type: "differs", there } : { type: "same" });
  },
  "other-version-tried": (known, fold, { effect: { item: index = -1, call }, answer }) => {
    const { object, there } = fold;
    if (E.isRight(answer)) return noted(known, index, fold, losing(lostThere(object, there, call.place, answer.right)));
    const code = answer.left.type === "refused" ? answer.left.code : 0;
    if (code === 409) return withPreflight(unread(known, index), index, { otherVersions: undefined });
    if (deniedVerb(answer.left) !== undefined) return noted(known, index, fold, { type: "denied" });
    // An object that is rejected without these fields needs them.
    return noted(known, index, fold, losing(onlyThere(object, there, call.place)));
  },
};
