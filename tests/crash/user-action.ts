// Actions of people at a certain moment of a run, such as an edit when a Transaction commits.
import type { Hook, KubeObject, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Phase } from "@janus/api";
import { transaction } from "./objects.ts";
import type { Users } from "./users.ts";

/** Something that users do, once, before or after a certain request of the controller. */
export interface UserAction {
  /** Right before the request is sent, or right after it was answered with success and before the controller gets the response. */
  readonly when: "before" | "after";
  readonly is: (request: Request, answer?: KubeObject) => boolean;
  /** The number of the request, over all controllers. Default: 1 */
  readonly nth?: number;
  readonly does: (users: Users) => Promise<void>;
}

export const phaseOf = (transaction: KubeObject | undefined): Phase =>
  (transaction?.["status"] as { readonly phase?: Phase } | undefined)?.phase ?? "Pending";

export const onPhase = (phase: Phase, does: UserAction["does"]): UserAction => ({
  when: "after",
  is: ({ purpose }, answer) => purpose === "record" && phaseOf(answer) === phase,
  does,
});

/** Lets users do all this while controllers run. */
export const interference = (actions: readonly UserAction[], users: Users): Hook => {
  const left = new Map(actions.map((action) => [action, action.nth ?? 1]));
  const act = async (when: UserAction["when"], request: Request, answer?: KubeObject): Promise<void> => {
    for (const [action, times] of left) {
      if (action.when !== when || !action.is(request, answer)) continue;
      left.set(action, times - 1);
      if (times > 1) continue;
      left.delete(action);
      await action.does(users);
    }
  };
  const isGone = ({ resource, name }: Extract<Request, { verb: "delete" }>): Promise<boolean> => {
    const { group, version, kind } = resource;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    return users.read({ apiVersion, kind, metadata: { name } }).then(
      () => false,
      () => true,
    );
  };
  return async (request, next) => {
    await act("before", request);
    const answer = await next(request);
    if (E.isRight(answer)) await act("after", request, answer.right);
    // An API server may answer otherwise, or not in time, what it has done.
    else if (request.verb === "delete" && left.size > 0 && (await isGone(request))) await act("after", request);
    else if (request.purpose === "record" && "name" in request && request.name !== undefined) {
      const ref = { ...transaction, metadata: { name: request.name } };
      await act("after", request, await users.read(ref).catch(() => undefined));
    }
    return answer;
  };
};
