// Finds the container in which a command is to run, or says in words why it cannot.
import {
  asObject,
  isAbsent,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  messageOf,
  pods,
} from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Answer } from "../memory.ts";
import { namePod, podState } from "../pods/pod-state.ts";
import { show } from "../names.ts";
import type { ObjectRef } from "../requests.ts";

const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

const BEFORE = "begin this phase when it runs, such as after a phase ScaleWorkload or Wait";

const itemsOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
const namesOf = (value: Json | undefined): readonly string[] =>
  itemsOf(value).flatMap(({ name }) => (typeof name === "string" ? [name] : []));

export const placeOfPod = (namespace: string, name: string): ObjectRef => ({ resource: pods, namespace, name });

/** Chooses a container: the wanted one, else the one that an annotation names, else the only one. */
const chosen = (pod: KubeObject, wanted: string | undefined): E.Either<string, string> => {
  const { containers, initContainers, ephemeralContainers } = asObject(pod["spec"]);
  const names = namesOf(containers);
  const has = `${namePod(pod)} has ${names.map((name) => `"${name}"`).join(", ")}`;
  const byDefault = pod.metadata.annotations?.[DEFAULT_CONTAINER];
  const name = wanted ?? byDefault ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined) return E.left(`${has}: name one of them in args.container`);
  const all = [...names, ...namesOf(initContainers), ...namesOf(ephemeralContainers)];
  return all.includes(name) ? E.right(name) : E.left(`there is no container "${name}": ${has}`);
};

const isRunning = ({ status }: KubeObject, container: string): boolean => {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = asObject(status);
  return [containerStatuses, initContainerStatuses, ephemeralContainerStatuses]
    .flatMap(itemsOf)
    .some(({ name, state }) => name === container && isObject(asObject(state)["running"]));
};

/** Returns the name of the container. Left: why a command cannot run there, and what helps. */
export const targetContainer = (
  ref: ObjectRef,
  answer: Answer,
  wanted: string | undefined,
): E.Either<string, string> => {
  if (E.isLeft(answer))
    return E.left(
      isAbsent(answer.left)
        ? `Pod ${show(ref)} not found`
        : `Pod ${show(ref)} cannot be read: ${messageOf(answer.left)}`,
    );
  const pod = answer.right;
  const shown = namePod(pod);
  return E.flatMap(chosen(pod, wanted), (container) => {
    if (isRunning(pod, container)) return E.right(container);
    const state = podState(pod);
    switch (state.type) {
      case "succeeded":
        return E.left(`${shown} has ended: a command runs only in a container that is running`);
      case "failed":
        return E.left(`${shown} has failed (${state.why}): a command runs only in a container that is running`);
      case "waiting":
        return E.left(`${shown} does not run yet (${state.why}): ${BEFORE}`);
      case "running":
        return E.left(`container "${container}" of ${shown} is not running: ${BEFORE}`);
    }
  });
};
