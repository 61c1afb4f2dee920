// Explores atomic actions: whatever fails, and a crash or a deletion at every request, all of their changes stay, or none.
import { actionSetController, type Effect, type Happened, type Step } from "@janus/blueprints/core";
import type { Call } from "@janus/controller";
import { simulateController } from "@janus/runtime";
import { asObject, type Json, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import * as server from "../../../packages/testing/src/api-server/respond.ts";
import { assumedKind } from "../../../packages/testing/src/api-server/served-kinds.ts";
import { objectAt, placeKey, stored, versioned, type World } from "../../../packages/testing/src/api-server/world.ts";
import { sampled, share } from "../../fixtures/sample.ts";

const KANISTER = "cr.kanister.io/v1alpha1";
const JANUS = "backup.janus.io/v1alpha1";

const served = (apiVersion: string, kind: string, plural: string, statusSubresource: boolean) => {
  const { type, resource } = assumedKind(apiVersion, kind, plural, true);
  return { type, resource: { ...resource, statusSubresource } };
};

const KINDS = [
  served(KANISTER, "ActionSet", "actionsets", false),
  served(KANISTER, "Blueprint", "blueprints", false),
  served(JANUS, "Transaction", "transactions", true),
  served("v1", "ServiceAccount", "serviceaccounts", false),
  served("v1", "ConfigMap", "configmaps", false),
];
const SERVER: server.ApiServer = {
  assumed: KINDS.filter(({ resource }) => resource.group !== ""),
  namespaces: new Set(["shop"]),
};
const NOW = 1_767_225_600_000;
const SETTINGS = { defaultServiceAccount: "ops", podReadyTimeout: 60_000, toolsImage: "tools", seed: "", process: "" };

interface Variant {
  readonly title: string;
  readonly isSequential?: true;
  /** Each phase is executed once more when it has failed, and does not fail then. */
  readonly recovers?: true;
}

const VARIANTS: readonly Variant[] = [
  { title: "side by side" },
  { title: "one after the other", isSequential: true },
  { title: "side by side, tried again", recovers: true },
];

/** By their names: the first letter is that of the action. */
const ACTIONS = ["a", "b"];
const PHASES = ACTIONS.flatMap((action) => [`${action}1`, `${action}2`]);

const configMap = (name: string): string => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}}`;

const making = (name: string, more: object = {}): object => ({
  func: "KubeOps",
  name,
  args: { operation: "create", namespace: "shop", spec: configMap(name) },
  ...more,
});

const placeOf = ({ apiVersion, kind, metadata: { namespace = "", name = "" } }: KubeObject) => {
  const found = KINDS.find(({ resource }) => resource.kind === kind);
  if (found === undefined) throw new Error(`no ${apiVersion} ${kind} is expected`);
  return { resource: found.resource, namespace, name };
};

const object = (apiVersion: string, kind: string, name: string, more: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { namespace: "shop", name, uid: `uid-${name}`, resourceVersion: "1" },
  ...more,
});

const actionSetOf = ({ isSequential }: Variant): KubeObject =>
  object(KANISTER, "ActionSet", "run", {
    spec: {
      ...(isSequential && { executionMode: "Sequential" }),
      actions: ACTIONS.map((name) => ({
        name,
        blueprint: "both",
        object: { kind: "", apiVersion: "v1", resource: "configmaps", name: "subject", namespace: "shop" },
      })),
    },
  });

const OWN = placeOf(actionSetOf({ title: "" }));

const startOf = (variant: Variant): World => {
  const again = variant.recovers && { retry: { limit: 1, backoff: "10s" } };
  const action = (name: string): object => ({
    atomic: true,
    phases: PHASES.filter((phase) => phase.startsWith(name)).map((phase) => making(phase, again)),
    deferPhase: making(`${name}-defer`),
  });
  return [
    actionSetOf(variant),
    object(KANISTER, "Blueprint", "both", {
      actions: Object.fromEntries(ACTIONS.map((name) => [name, action(name)])),
    }),
    object("v1", "ServiceAccount", "ops", {}),
    object("v1", "ConfigMap", "subject", {}),
  ].reduce<World>((world, one) => stored(world, placeKey(placeOf(one)), one), { objects: new Map(), revision: 1 });
};

/** After so many more requests one that is late is carried out, or at the end. */
const DELAY = 6;

interface Trial {
  readonly variant: Variant;
  /** The phases whose Transactions fail. */
  readonly failing: ReadonlySet<string>;
  /** Those that cannot be rolled back. */
  readonly stuck: ReadonlySet<string>;
  /** The request at which it happens, by its number. */
  readonly at: number;
  readonly what: "nothing" | "crash before" | "crash after" | "deletion" | "late";
}

interface Trace {
  readonly requests: number;
  /** Such as `apply a1`, `undo a1`, `keep a1` and `defer a`. */
  readonly log: readonly string[];
  readonly end: KubeObject | undefined;
  readonly left: readonly string[];
}

const RESOURCES: Readonly<Record<string, readonly JsonObject[]>> = {
  "/api/v1": [{ name: "configmaps", kind: "ConfigMap", namespaced: true }],
  "/apis/backup.janus.io/v1alpha1": [{ name: "transactions", kind: "Transaction", namespaced: true }],
};

const callOf = (request: Effect["request"]): Call => {
  if (request.verb === "raw" || request.verb === "list") throw new Error(`no ${request.verb} is expected`);
  const { resource, namespace = "" } = request;
  const place = { resource, namespace, name: "name" in request ? (request.name ?? "") : "" };
  switch (request.verb) {
    case "get":
      return { verb: "get", place };
    case "create": {
      const body = request.body as KubeObject;
      return { verb: "create", place: { ...place, name: body.metadata?.name ?? "" }, body, manager: "janus" };
    }
    case "mergePatch":
      return { verb: "mergePatch", place, body: request.body, manager: "janus" } as unknown as Call;
    case "delete":
      return { verb: "delete", place, preconditions: request.preconditions ?? {} };
    case "update":
    case "apply":
    case "strategicMergePatch":
      throw new Error(`no ${request.verb} is expected`);
  }
};

const phaseOf = (transaction: KubeObject): string => {
  const [change] = asObject(transaction["spec"])["changes"] as readonly JsonObject[];
  return asObject(change?.["target"])["name"] as string;
};

const condition = (type: string, status: string, reason: string, message: string): JsonObject => ({
  type,
  status,
  reason,
  message,
});

const COMMITTED = { phase: "Committed", conditions: [condition("Reversible", "True", "WithinWindow", "")] };
const ROLLED_BACK = {
  phase: "RolledBack",
  conditions: [condition("Ready", "False", "RollbackRequested", "every target is as it was before")],
};
const UNCHANGED = {
  phase: "Failed",
  conditions: [
    condition("Ready", "False", "InvalidTransaction", "no changes were applied"),
    condition("RolledBack", "False", "NoChangesApplied", ""),
  ],
};
const STUCK = {
  phase: "Failed",
  conditions: [
    condition("Ready", "False", "RollbackFailed", "somebody has changed it"),
    condition("RolledBack", "False", "RollbackIncomplete", ""),
  ],
};

const isIdle = ({ watched = [] }: Extract<Step, { readonly type: "wait" }>): boolean => watched.length === 0;

/** Executes the ActionSet in a world in which a Transaction goes on while its phase waits. */
const run = ({ variant, failing, stuck, at, what }: Trial): Trace => {
  let world = startOf(variant);
  let now = NOW;
  let requests = 0;
  let late: Call | undefined;
  const log: string[] = [];
  const isFailing = (transaction: KubeObject): boolean => {
    const isFirst = transaction.metadata.annotations?.["janus.io/actionset"]?.endsWith("/1") === true;
    return failing.has(phaseOf(transaction)) && (isFirst || variant.recovers !== true);
  };
  /** The controller of Transactions: what is next for one. */
  const statusOf = (transaction: KubeObject): Json | undefined => {
    const { phase } = asObject(transaction["status"]);
    const name = phaseOf(transaction);
    const isAsked = transaction.metadata.annotations?.["backup.janus.io/request-rollback"] !== undefined;
    if (asObject(transaction["spec"])["lifecycle"] !== "Published") return undefined;
    if (phase === undefined) {
      if (isAsked || isFailing(transaction)) return UNCHANGED;
      log.push(`apply ${name}`);
      return COMMITTED;
    }
    if (phase !== "Committed" || !isAsked) return undefined;
    if (stuck.has(name)) return STUCK;
    log.push(`undo ${name}`);
    return ROLLED_BACK;
  };
  const proceed = (): void => {
    for (const [key, one] of world.objects) {
      const status = one.kind === "Transaction" ? statusOf(one) : undefined;
      if (status !== undefined) world = stored(world, key, versioned(world, { ...one, status }));
    }
  };
  const respond = (call: Call): server.Reply["answer"] => {
    const before = objectAt(world, call.place);
    const reply = server.respond(SERVER, world, { call, dryRun: false, now });
    world = reply.world;
    if (call.verb === "delete" && before?.kind === "Transaction" && E.isRight(reply.answer))
      if (asObject(before["status"])["phase"] === "Committed") log.push(`keep ${phaseOf(before)}`);
    if (call.verb === "create" && call.place.name.endsWith("-defer") && E.isRight(reply.answer))
      log.push(`defer ${call.place.name.charAt(0)}`);
    return reply.answer;
  };
  const land = (): void => {
    if (late !== undefined) respond(late);
    late = undefined;
  };
  const perform = (effect: Effect): Happened | "crashed" => {
    requests += 1;
    const { request } = effect;
    if (requests === at && (what === "deletion" || what === "late"))
      respond({ verb: "delete", place: OWN, preconditions: {} });
    if (requests === at && what === "late" && request.verb !== "raw") late = callOf(request);
    if (requests === at + DELAY) land();
    if (requests === at && (what === "crash before" || what === "late")) return "crashed";
    const list = { apiVersion: "v1", kind: "APIResourceList", metadata: {} };
    const answer =
      request.verb === "raw"
        ? E.right({ ...list, resources: RESOURCES[request.path] ?? [] })
        : respond(callOf(request));
    if (requests === at && what === "crash after") return "crashed";
    return { type: "answered", effect, answer, sent: now, at: now };
  };
  const simulation = simulateController(actionSetController(SETTINGS), {
    now: () => now,
    read: () => objectAt(world, OWN),
    perform,
    pause: (memory) => memory,
    wait: (step: Extract<Step, { readonly type: "wait" }>) => {
      if (isIdle(step)) now = Math.max(now, step.until);
      proceed();
      return (step.watched ?? []).map(({ index }): Happened => ({ type: "changed", index, at: now - 1 }));
    },
  });
  for (const { step } of simulation)
    if (step.type === "wait" && isIdle(step) && step.until === Number.POSITIVE_INFINITY) break;
  land();
  proceed();
  // What is created late is collected with its owner, or is a Draft, which changes nothing and deletes itself.
  const isCollected = ({ kind, ...one }: KubeObject): boolean =>
    what === "late" && (kind === "Secret" || asObject(one["spec"])["lifecycle"] === "Draft");
  const left = [...world.objects.values()].filter(
    (one) => (one.kind === "Secret" || one.kind === "Transaction") && !isCollected(one),
  );
  return {
    requests,
    log,
    end: objectAt(world, OWN),
    left: left.map((one) => (one.kind === "Transaction" ? phaseOf(one) : one.kind)),
  };
};

const OUTCOMES = Array.from({ length: 2 ** PHASES.length }, (_, bits) => {
  const failing = new Set(PHASES.filter((__, at) => (bits >> at) % 2 === 1));
  return [new Set<string>(), new Set(["a1"])].map((stuck) => ({ failing, stuck }));
}).flat();

const done = (log: readonly string[], verb: string): readonly string[] =>
  log.filter((one) => one.startsWith(`${verb} `)).map((one) => one.slice(verb.length + 1));

const problemsOf = ({ variant, failing, stuck, what }: Trial, { log, end, left }: Trace): readonly string[] => {
  const { state, error } = asObject(end?.["status"]);
  const message = (asObject(error)["message"] ?? "") as string;
  const [applied, undone] = [done(log, "apply"), done(log, "undo")];
  const stays = applied.filter((phase) => !undone.includes(phase) && !stuck.has(phase));
  const isWhole = applied.length === PHASES.length && undone.length === 0;
  const isStuck = applied.includes("a1") && stuck.has("a1") && !isWhole;
  const isBad = variant.recovers !== true && failing.size > 0;
  return [
    ...(what === "deletion" || what === "late" || state === (isBad ? "failed" : "complete")
      ? []
      : [`ended ${JSON.stringify(state)}`]),
    ...(new Set(applied).size === applied.length ? [] : ["applied twice"]),
    ...(isWhole || stays.length === 0 ? [] : [`${stays.join()} stays`]),
    ...(left.join() === (isStuck ? "a1" : "") ? [] : [`left: ${left.join()}`]),
    ...(isStuck && end !== undefined && !message.includes("phase a1 is not rolled back: Transaction shop/kanister-")
      ? [`does not say what stays: ${message}`]
      : []),
    ...(end === undefined || undone.every((phase) => message.includes(phase)) ? [] : [`does not tell all: ${message}`]),
    ...(variant.isSequential && undone.join() !== undone.toSorted().toReversed().join() ? ["not the last first"] : []),
    ...ACTIONS.flatMap((action) => {
      const own = log.filter((one) => one.charAt(one.length - (one.startsWith("defer") ? 1 : 2)) === action);
      const [begun, ended] = [done(own, "apply"), done(own, "defer")];
      const reversed = done(own, "undo");
      return [
        ...(begun.join() === begun.toSorted().join() ? [] : ["not in order"]),
        ...(reversed.join() === reversed.toSorted().toReversed().join() ? [] : ["not the last first"]),
        ...(begun.length > 0 && ended.length !== 1 ? ["no deferPhase"] : []),
        ...(own.some((one, at) => one.startsWith("defer") && own.slice(0, at).some((other) => other.startsWith("keep")))
          ? ["a window ended before the deferPhase"]
          : []),
        ...(begun.length < 2 &&
        own.findIndex((one) => one.startsWith("defer")) < own.findLastIndex((one) => one.startsWith("undo"))
          ? ["rolled back after the deferPhase"]
          : []),
      ];
    }),
  ];
};

describe.each(
  VARIANTS.flatMap((variant) =>
    (
      [
        ["nothing happens", "nothing"],
        ["it crashes before a request", "crash before"],
        ["it crashes after a request", "crash after"],
        ["it is deleted at a request", "deletion"],
        ["it crashes and is deleted at a request, which is carried out late", "late"],
      ] as const
    ).map(([where, what]) => [variant.title, where, what, variant] as const),
  ),
)("two atomic actions of two phases and a deferPhase, %s, whatever fails, where %s", (_, __, what, variant) => {
  it("end with all changes, or with none, and say what cannot be rolled back", () => {
    const wrong: string[] = [];
    let trials = 0;
    for (const outcome of [...OUTCOMES.slice(0, 1), ...sampled(OUTCOMES.slice(1), share({ npmTest: 32, ci: 32 }))]) {
      const { requests } = run({ variant, ...outcome, at: 0, what: "nothing" });
      for (let at = what === "nothing" ? 0 : 1; at <= (what === "nothing" ? 0 : requests); at += 1) {
        trials += 1;
        const trial = { variant, ...outcome, at, what };
        const trace = run(trial);
        const problems = problemsOf(trial, trace);
        if (problems.length > 0)
          wrong.push(
            `${what} ${at}, failing ${[...outcome.failing].join()}: ${problems.join("; ")} (${trace.log.join()})`,
          );
      }
    }
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(trials).toBeGreaterThan(0);
  });
});
