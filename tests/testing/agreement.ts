import type { Hook, KubeObject, Request } from "@janus/kube";
import { simulate, type Edit, type SimulatedObject, type Simulation } from "@janus/testing";
import * as E from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import type { WrittenChange } from "../fixtures/changes.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { role, roleBinding } from "../fixtures/manifests.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

/** A Transaction, and what it finds. */
export interface Case {
  readonly live: readonly Manifest[];
  readonly changes: readonly WrittenChange[];
  readonly spec?: object;
  /** Of another client, before the first of these changes is made. */
  readonly edits?: readonly Edit[];
}

/** What both are compared by. */
export interface Outcome {
  readonly phase: string;
  readonly items: readonly object[];
  readonly conditions: readonly object[];
  /** Writes to targets in their order: `change apply app`. */
  readonly writes: readonly string[];
  readonly objects: readonly SimulatedObject[];
}

const REFUSED = "the admission webhook does not like it";

const nameOf = (request: Request): string => {
  if ("name" in request && request.name !== undefined) return request.name;
  return "body" in request ? ((request.body as KubeObject).metadata.name ?? "") : "";
};

/** What kube-controller-manager adds to Deployments. */
const REVISION = "deployment.kubernetes.io/revision";

const OF_SERVER: readonly string[] = ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"];

const without = (fields: object, ...names: readonly string[]): object =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** As {@link Simulation.objects} has it. */
const essence = (object: KubeObject): SimulatedObject => {
  const { annotations = {}, ...metadata } = object.metadata;
  const kept = without(annotations, REVISION);
  return {
    ...(without(object, "status") as SimulatedObject),
    metadata: {
      name: metadata.name ?? "",
      ...without(metadata, ...OF_SERVER),
      ...(Object.keys(kept).length === 0 ? {} : { annotations: kept as Readonly<Record<string, string>> }),
    },
  };
};

const refusing =
  (name: string | undefined): Hook =>
  async (request, next) =>
    name !== undefined && isChangeOf(name)(request)
      ? E.left({ type: "refused", code: 403, reason: "Forbidden", message: REFUSED, causes: [] })
      : next(request);

const editing = (place: Workspace, edits: readonly Edit[], changes: readonly WrittenChange[]): Hook => {
  const left = new Set(edits);
  return async (request, next) => {
    for (const edit of left) {
      const { before, target, patch } = edit;
      const isDue =
        before === "rollback" ? request.purpose === "restore" : isChangeOf(changes[before]?.target.name ?? "")(request);
      if (!isDue) continue;
      left.delete(edit);
      const ref = { apiVersion: target.apiVersion, kind: target.kind, metadata: { name: target.name } };
      if (patch === null) await place.remove(ref);
      else
        await place.patch({
          ...ref,
          ...patch,
          metadata: { ...(patch as Partial<Manifest>).metadata, name: target.name },
        });
    }
    return next(request);
  };
};

/** The objects that are there before, when controllers have seen them. */
export const prepare = async ({
  live,
}: Case): Promise<{ readonly place: Workspace; readonly before: readonly KubeObject[] }> => {
  const place = await workspace();
  // The model has no user who may not list some kinds.
  await place.create(
    role("lists", { apiGroups: ["*"], resources: ["*"], verbs: ["list"] }),
    roleBinding("lists", "Role", "lists", `${place.namespace}/deployer`),
    ...live,
  );
  for (const object of live.filter(({ kind }) => kind === "Deployment"))
    await expect
      .poll(async () => ((await place.read(object))["status"] as { observedGeneration?: number }).observedGeneration)
      .toBe(1);
  return { place, before: await Promise.all(live.map((object) => place.read(object))) };
};

/** Runs it with a real controller, on the real API server. */
export const real = async (
  { live, changes, spec = {}, edits = [] }: Case,
  place: Workspace,
  failAt: number | undefined,
): Promise<Outcome> => {
  const writes: string[] = [];
  const recorded: Hook = async (request, next) => {
    const answer = await next(request);
    const { purpose } = request;
    if ((purpose === "change" || purpose === "restore") && request.verb !== "get" && E.isRight(answer))
      writes.push(`${purpose} ${request.verb} ${nameOf(request)}`);
    return answer;
  };
  const failing = failAt === undefined ? undefined : changes[failAt]?.target.name;
  await place.janus(recorded, editing(place, edits, changes), refusing(failing));
  const { status } = await place.run(changes, spec as Record<string, unknown>);
  const refs = [
    ...live,
    ...changes.map(({ target: { apiVersion, kind, name } }) => ({ apiVersion, kind, metadata: { name } })),
  ];
  const names = new Map(refs.map((ref) => [`${ref.kind} ${ref.metadata.name}`, ref]));
  const found = await Promise.all(
    [...names.values()].map(async (ref) => ((await place.exists(ref)) ? [essence(await place.read(ref))] : [])),
  );
  return {
    phase: status.phase,
    items: status.items.map((item) => {
      const { target, state, error } = item as unknown as Simulation["items"][number];
      return { target, state, ...(error === undefined ? {} : { error }) };
    }),
    conditions: status.conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
    writes,
    objects: found.flat(),
  };
};

/** The same, in the model. */
export const simulated = (
  { changes, spec = {}, edits = [] }: Case,
  { namespace }: Workspace,
  before: readonly KubeObject[],
  failAt: number | undefined,
): Outcome => {
  const transaction = {
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { name: "txn", namespace },
    spec: { serviceAccountName: "deployer", ...spec, changes },
  };
  const result = simulate(transaction, before as readonly SimulatedObject[], {
    edits: edits.map((edit) => ({ manager: "somebody", ...edit })),
    ...(failAt === undefined ? {} : { failAt: { change: failAt, message: REFUSED } }),
  });
  return {
    phase: result.phase,
    items: result.items.map(({ target, state, error }) => ({
      target,
      state,
      ...(error === undefined ? {} : { error }),
    })),
    conditions: result.conditions,
    writes: result.requests.flatMap(({ purpose, verb, target, error }) =>
      (purpose === "change" || purpose === "rollback") && verb !== "get" && error === undefined
        ? [`${purpose === "rollback" ? "restore" : purpose} ${verb} ${target.name}`]
        : [],
    ),
    objects: result.objects.map((object) => essence(object as KubeObject)),
  };
};
