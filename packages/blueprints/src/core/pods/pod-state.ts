// The state of a Pod, and in words why it has failed or does not run.
import { asObject, isObject, type Json, type JsonObject, type KubeObject } from "@janus/types";
import { show } from "../names.ts";

/** waiting: not running yet, and why. failed: and why; isExit: by the exit code of a container. */
export type PodState =
  | { readonly type: "waiting"; readonly why: string; readonly isFinal: boolean }
  | { readonly type: "running" | "succeeded" }
  | { readonly type: "failed"; readonly why: string; readonly isExit: boolean };

const list = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const withMessage = (reason: string, message: string): string => (message === "" ? reason : `${reason}: ${message}`);

/** Reasons for which only another Pod helps. */
const FINAL: readonly string[] = ["InvalidImageName", "ErrImageNeverPull"];

const terminated = ({ name, state }: JsonObject): string | undefined => {
  const { terminated: end } = asObject(state);
  if (!isObject(end)) return undefined;
  const { exitCode, reason, message } = end;
  if (exitCode === 0) return undefined;
  return withMessage(
    `container "${textOf(name)}" exited with ${exitCode as number} (${textOf(reason) || "Error"})`,
    textOf(message),
  );
};

const waitingIn = ({ name, state }: JsonObject): { readonly why: string; readonly isFinal: boolean } | undefined => {
  const { waiting } = asObject(state);
  const { reason, message } = asObject(waiting);
  if (typeof reason !== "string" || reason === "ContainerCreating" || reason === "PodInitializing") return undefined;
  return {
    why: withMessage(`container "${textOf(name)}" waits: ${reason}`, textOf(message)),
    isFinal: FINAL.includes(reason),
  };
};

export const podState = ({ status }: KubeObject): PodState => {
  const { phase, reason, message, conditions, containerStatuses, initContainerStatuses } = asObject(status);
  const containers = [...list(initContainerStatuses), ...list(containerStatuses)];
  if (phase === "Succeeded") return { type: "succeeded" };
  if (phase === "Failed") {
    const [first] = containers.flatMap((one) => terminated(one) ?? []);
    const own = typeof reason === "string" ? withMessage(reason, textOf(message)) : undefined;
    return {
      type: "failed",
      why: own ?? first ?? withMessage("it has failed", textOf(message)),
      isExit: own === undefined && first !== undefined,
    };
  }
  if (phase === "Running") return { type: "running" };
  const [waiting] = containers.flatMap((one) => waitingIn(one) ?? []);
  if (waiting !== undefined) return { type: "waiting", ...waiting };
  const unscheduled = list(conditions).find(({ type, status: is }) => type === "PodScheduled" && is === "False");
  if (unscheduled !== undefined)
    return {
      type: "waiting",
      why: withMessage(textOf(unscheduled["reason"]) || "not scheduled", textOf(unscheduled["message"])),
      isFinal: false,
    };
  return { type: "waiting", why: "it has not started yet", isFinal: false };
};

/** The Pod, if it has ended. */
export const endedPod = (pod: KubeObject): KubeObject | undefined => {
  const { phase } = asObject(pod["status"]);
  return phase === "Succeeded" || phase === "Failed" ? pod : undefined;
};

/** Tells whether a container of a Pod that has ended has run at all: else it has no log. */
export const hasRun = ({ status }: KubeObject, container: string): boolean => {
  const { containerStatuses } = asObject(status);
  return list(containerStatuses).some(
    ({ name, state }) => name === container && isObject(asObject(state)["terminated"]),
  );
};

export const namePod = ({ metadata: { namespace, name = "" } }: KubeObject): string =>
  `Pod ${show({ ...(namespace === undefined ? {} : { namespace }), name })}`;
