import type { Hook, KubeObject, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Phase } from "@janus/api";
import { transaction } from "./objects.ts";
import type { Stage } from "./stage.ts";

/** Something that people do, once, at a moment that a request of the controller tells. */
export interface Deed {
  /** Right before the request is sent, or right after it was answered with success and before the controller hears of it. */
  readonly when: "before" | "after";
  readonly is: (request: Request, answer?: KubeObject) => boolean;
  /** How many such requests there have to be, in all lives. Default: 1 */
  readonly nth?: number;
  readonly does: (stage: Stage) => Promise<void>;
}

export const phaseOf = (transaction: KubeObject | undefined): Phase =>
  (transaction?.["status"] as { readonly phase?: Phase } | undefined)?.phase ?? "Pending";

export const onPhase = (phase: Phase, does: Deed["does"]): Deed => ({
  when: "after",
  is: ({ purpose }, answer) => purpose === "record" && phaseOf(answer) === phase,
  does,
});

/** Has people do all this while a controller, or one after the other, is at work. */
export const interference = (deeds: readonly Deed[], stage: Stage): Hook => {
  const left = new Map(deeds.map((deed) => [deed, deed.nth ?? 1]));
  const act = async (when: Deed["when"], request: Request, answer?: KubeObject): Promise<void> => {
    for (const [deed, times] of left) {
      if (deed.when !== when || !deed.is(request, answer)) continue;
      left.set(deed, times - 1);
      if (times > 1) continue;
      left.delete(deed);
      await deed.does(stage);
    }
  };
  return async (request, next) => {
    await act("before", request);
    const answer = await next(request);
    if (E.isRight(answer)) await act("after", request, answer.right);
    // A busy API server may not have answered in time what it has done.
    else if (request.purpose === "record" && "name" in request && request.name !== undefined) {
      const ref = { ...transaction, metadata: { name: request.name } };
      await act("after", request, await stage.read(ref).catch(() => undefined));
    }
    return answer;
  };
};
