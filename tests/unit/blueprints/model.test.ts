// Explores the whole reducer: every outcome of every phase, a crash or a deletion at every request.
import {
  actionSetController,
  type Effect,
  endLog,
  type Happened,
  NO_LOG,
  readLog,
  type Step,
} from "@janus/blueprints/core";
import { simulateController } from "@janus/runtime";
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import * as server from "../../../packages/testing/src/api-server/respond.ts";
import { assumedKind } from "../../../packages/testing/src/api-server/served-kinds.ts";
import { objectAt, placeKey, stored, type World } from "../../../packages/testing/src/api-server/world.ts";
import type { Call } from "@janus/controller";
import { sampled, share } from "../../fixtures/sample.ts";

const KANISTER = "cr.kanister.io/v1alpha1";
const served = (kind: string, plural: string, statusSubresource: boolean) => {
  const { type, resource } = assumedKind(KANISTER, kind, plural, true);
  return { type, resource: { ...resource, statusSubresource } };
};

/** @param isApart with a definition of ActionSets that has the status subresource */
const serverOf = (isApart: boolean): server.ApiServer => ({
  assumed: [served("ActionSet", "actionsets", isApart), served("Blueprint", "blueprints", false)],
  namespaces: new Set(["shop"]),
});
const SERVER = serverOf(false);
const APART = serverOf(true);
const NOW = 1_767_225_600_000;
const SETTINGS = { defaultServiceAccount: "ops", podReadyTimeout: 60_000, toolsImage: "tools", seed: "", process: "" };

interface Variant {
  readonly title: string;
  readonly isSequential?: true;
  /** Each phase is executed once more when it has failed: then it fails again, or it does not. */
  readonly retry?: "fails" | "recovers";
  /** The status of ActionSets is a subresource. */
  readonly isApart?: true;
}

const PLAIN: Variant = { title: "side by side" };
const VARIANTS: readonly Variant[] = [
  PLAIN,
  { title: "one after the other", isSequential: true },
  { title: "side by side, tried again in vain", retry: "fails" },
  { title: "one after the other, tried again with success", isSequential: true, retry: "recovers" },
  { title: "side by side, with a status subresource", isApart: true },
];
const LIMIT = 1;

const task = (name: string, { retry }: Variant): object => ({
  func: "KubeTask",
  name,
  args: { image: "i", command: [name] },
  ...(retry && { retry: { limit: LIMIT, backoff: "10s" } }),
});

/** Phases by the names of their commands: the first letter is that of the action. */
const ACTIONS = ["a", "b"];
const PHASES = ["1", "2"];
const COMMANDS = ACTIONS.flatMap((action) => [...PHASES, "defer"].map((phase) => `${action}${phase}`));

const object = (kind: string, name: string, more: object): KubeObject => ({
  apiVersion: kind === "Blueprint" || kind === "ActionSet" ? KANISTER : "v1",
  kind,
  metadata: { namespace: "shop", name, uid: `uid-${name}`, resourceVersion: "1" },
  ...more,
});

const RESOURCES: Readonly<Record<string, string>> = {
  ActionSet: "actionsets",
  Blueprint: "blueprints",
  ServiceAccount: "serviceaccounts",
  ConfigMap: "configmaps",
};

const placeOf = ({ apiVersion, kind, metadata: { namespace = "", name = "" } }: KubeObject) => {
  const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const resource = { group, version, plural: RESOURCES[kind] ?? "", kind, namespaced: true, statusSubresource: false };
  return { resource, namespace, name };
};

const actionSetOf = ({ isSequential }: Variant): KubeObject =>
  object("ActionSet", "run", {
    spec: {
      ...(isSequential && { executionMode: "Sequential" }),
      actions: ACTIONS.map((name) => ({
        name,
        blueprint: "both",
        object: { kind: "", apiVersion: "v1", resource: "configmaps", name: "subject", namespace: "shop" },
      })),
    },
  });

const OWN = placeOf(actionSetOf(PLAIN));

const startOf = (variant: Variant): World =>
  [
    actionSetOf(variant),
    object("Blueprint", "both", {
      actions: Object.fromEntries(
        ACTIONS.map((action) => [
          action,
          {
            phases: PHASES.map((phase) => task(`${action}${phase}`, variant)),
            deferPhase: task(`${action}defer`, variant),
          },
        ]),
      ),
    }),
    object("ServiceAccount", "ops", {}),
    object("ConfigMap", "subject", {}),
  ].reduce<World>((world, one) => stored(world, placeKey(placeOf(one)), one), { objects: new Map(), revision: 1 });

interface Trial {
  readonly variant: Variant;
  /** The commands that fail. */
  readonly failing: ReadonlySet<string>;
  /** The request at which it happens, by its number; sent: the request was carried out before the crash. */
  readonly at: number;
  readonly what: "nothing" | "crash before" | "crash after" | "deletion";
  /** Under Kanister's own definition, which lacks the fields of Janus. */
  readonly isPruned?: boolean;
}

interface Trace {
  readonly requests: number;
  readonly commands: readonly string[];
  /** Each with its number, such as `a1/2`. */
  readonly attempts: readonly string[];
  readonly end: KubeObject | undefined;
  readonly left: readonly string[];
}

/** The verbs of the client as the model of the API server has them. */
const callOf = (request: Effect["request"]): Call | undefined => {
  if (request.verb === "raw" || request.verb === "list") return undefined;
  const { resource, namespace = "" } = request;
  const name = "name" in request && request.name !== undefined ? request.name : "";
  const place = { resource, namespace, name };
  switch (request.verb) {
    case "get":
      return { verb: "get", place };
    case "create": {
      const body = request.body as KubeObject;
      return { verb: "create", place: { ...place, name: body.metadata?.name ?? "" }, body, manager: "janus" };
    }
    case "mergePatch":
      return {
        verb: "mergePatch",
        place,
        body: request.body,
        manager: "janus",
        ...(request.subresource === "status" ? { subresource: "status" } : {}),
      } as unknown as Call;
    case "delete":
      return { verb: "delete", place, preconditions: request.preconditions ?? {} };
    case "update":
    case "apply":
    case "strategicMergePatch":
      return undefined;
  }
};

const commandOf = (pod: KubeObject): string => {
  const [container = {}] = asObject(pod["spec"])["containers"] as readonly JsonObject[];
  const [command = ""] = container["command"] as readonly string[];
  return command;
};

/** Of the phase that made the Pod. */
const attemptOf = ({ metadata: { annotations = {} } }: KubeObject): string =>
  annotations["janus.io/actionset"]?.split("/").at(-1) ?? "";

/** Only time goes on. */
const isIdle = ({ watched = [], follow = [] }: Extract<Step, { readonly type: "wait" }>): boolean =>
  watched.length + follow.length === 0;

/** Without the fields of the status that only Janus has. */
const pruned = (object: KubeObject): KubeObject => {
  const { conditions: _, startTime: __, completionTime: ___, ...status } = asObject(object["status"]);
  return object["status"] === undefined ? object : { ...object, status };
};

/** Executes the ActionSet in a world in which Pods end at once. */
const run = ({ variant, failing, at, what, isPruned = false }: Trial): Trace => {
  let world = startOf(variant);
  let now = NOW;
  let requests = 0;
  const attempts: string[] = [];
  const respond = (call: Call): server.Reply["answer"] => {
    const reply = server.respond(variant.isApart ? APART : SERVER, world, { call, dryRun: false, now });
    world = reply.world;
    if (!isPruned || call.place.resource.kind !== "ActionSet" || E.isLeft(reply.answer)) return reply.answer;
    const kept = pruned(reply.answer.right);
    if (objectAt(world, call.place) !== undefined)
      world = { ...world, objects: new Map(world.objects).set(placeKey(call.place), kept) };
    return E.right(kept);
  };
  /** The Pod has ended when it is looked at. */
  const execute = (pod: KubeObject): KubeObject => {
    const attempt = attemptOf(pod);
    attempts.push(`${commandOf(pod)}/${attempt}`);
    const isBad = failing.has(commandOf(pod)) && (attempt === "1" || variant.retry !== "recovers");
    const status = {
      phase: isBad ? "Failed" : "Succeeded",
      containerStatuses: [{ name: "container", state: { terminated: { exitCode: isBad ? 1 : 0 } } }],
    };
    const ended = { ...pod, status };
    world = stored(world, placeKey(placeOf({ ...pod, kind: "Pod" })), ended);
    return ended;
  };
  const perform = (effect: Effect): Happened | "crashed" => {
    requests += 1;
    if (requests === at && what === "deletion") respond({ verb: "delete", place: OWN, preconditions: {} });
    if (requests === at && what === "crash before") return "crashed";
    const { request } = effect;
    if (request.verb === "raw")
      return {
        type: "answered",
        effect,
        answer: E.right({
          apiVersion: "v1",
          kind: "APIResourceList",
          metadata: {},
          resources: [{ name: "configmaps", kind: "ConfigMap", namespaced: true }],
        }),
        sent: now,
        at: now,
      };
    const call = callOf(request);
    if (call === undefined) throw new Error(`no ${request.verb} is expected`);
    const answer = respond(call);
    if (E.isRight(answer) && call.verb === "create" && call.place.resource.kind === "Pod") execute(answer.right);
    if (requests === at && what === "crash after") return "crashed";
    return { type: "answered", effect, answer, sent: now, at: now };
  };
  const simulation = simulateController(
    actionSetController(SETTINGS, { isStatusApart: () => variant.isApart === true }),
    {
      now: () => now,
      read: () => objectAt(world, OWN),
      perform,
      pause: (memory) => memory,
      wait: (step: Extract<Step, { readonly type: "wait" }>) => {
        if (isIdle(step)) now = Math.max(now, step.until);
        return [
          ...(step.watched ?? []).map(({ index }): Happened => ({ type: "changed", index, at: now - 1 })),
          ...(step.follow ?? []).map(
            ({ phase }): Happened => ({ type: "logged", phase, log: endLog(readLog(NO_LOG, "a line\n")) }),
          ),
        ];
      },
    },
  );
  for (const { step } of simulation)
    if (step.type === "wait" && isIdle(step) && step.until === Number.POSITIVE_INFINITY) break;
  const left = [...world.objects.values()].filter(({ kind }) => kind === "Pod" || kind === "Secret");
  return {
    requests,
    commands: [...new Set(attempts.map((one) => one.slice(0, one.indexOf("/"))))],
    attempts,
    end: objectAt(world, OWN),
    left: left.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  };
};

const OUTCOMES: readonly ReadonlySet<string>[] = Array.from(
  { length: 2 ** COMMANDS.length },
  (_, bits) => new Set(COMMANDS.filter((__, at) => (bits >> at) % 2 === 1)),
);

/** Which commands fail. */
const outcomesOf = (variant: Variant): readonly ReadonlySet<string>[] =>
  sampled(OUTCOMES, share(variant === PLAIN ? { npmTest: 16, ci: 16 } : { npmTest: 64, ci: 64 }));

const stateOf = (end: KubeObject | undefined): unknown => asObject(end?.["status"])["state"];

/** The commands of an action, in the order in which they ran. */
const ofAction = (commands: readonly string[], action: string): readonly string[] =>
  commands.filter((command) => command.startsWith(action));

/** What an action after one that has failed, or the next attempt of a phase, must not have done. */
const orderProblems = (
  { isSequential, retry }: Variant,
  failing: ReadonlySet<string>,
  attempts: readonly string[],
): readonly string[] => {
  const ofFirst = attempts.findLastIndex((one) => one.startsWith("a"));
  const ofSecond = attempts.findIndex((one) => one.startsWith("b"));
  const hasFailed = retry !== "recovers" && attempts.some((one) => one.startsWith("a") && failing.has(one.slice(0, 2)));
  return [
    ...(new Set(attempts).size === attempts.length ? [] : ["a command ran twice in an attempt"]),
    ...attempts.flatMap((one, at) => {
      const [command = "", attempt] = one.split("/");
      if (attempt === "1") return [];
      if (Number(attempt) > LIMIT + 1 || retry === undefined || !failing.has(command)) return [`${one} was not due`];
      return attempts.indexOf(`${command}/${Number(attempt) - 1}`) < at ? [] : [`${one} came too early`];
    }),
    ...(isSequential && ofSecond >= 0 && (ofSecond < ofFirst || hasFailed)
      ? ["the second action began too early"]
      : []),
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
      ] as const
    ).map(([where, what]) => [variant.title, where, what, variant] as const),
  ),
)("two actions of two phases and a deferPhase, %s, whatever fails, where %s", (_, __, what, variant) => {
  it("end as they should, run no command twice, in order, and leave nothing behind", () => {
    const wrong: string[] = [];
    const outcomes = outcomesOf(variant);
    let trials = 0;
    for (const failing of outcomes) {
      const { requests } = run({ variant, failing, at: 0, what: "nothing" });
      for (let at = what === "nothing" ? 0 : 1; at <= (what === "nothing" ? 0 : requests); at += 1) {
        trials += 1;
        const { commands, attempts, end, left } = run({ variant, failing, at, what });
        const isBad = variant.retry !== "recovers" && commands.some((one) => failing.has(one));
        const isDeleted = what === "deletion";
        const problems = [
          ...orderProblems(variant, failing, attempts),
          ...(left.length === 0 ? [] : [`left: ${left.join()}`]),
          ...(isDeleted || stateOf(end) === (isBad ? "failed" : "complete") ? [] : [`ended ${String(stateOf(end))}`]),
          ...(isDeleted && end !== undefined && stateOf(end) === undefined ? ["it is not gone"] : []),
          ...ACTIONS.flatMap((action) => {
            const ran = ofAction(commands, action);
            const phases = ran.filter((command) => !command.endsWith("defer"));
            return [
              ...(phases.join() ===
              PHASES.slice(0, phases.length)
                .map((phase) => `${action}${phase}`)
                .join()
                ? []
                : ["not in order"]),
              ...(phases.length === 0 || ran.at(-1) === `${action}defer` ? [] : ["no deferPhase in the end"]),
            ];
          }),
        ];
        if (problems.length > 0)
          wrong.push(`${what} ${at}, failing ${[...failing].join()}: ${problems.join("; ")} (${attempts.join()})`);
      }
    }
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(trials).toBeGreaterThanOrEqual(outcomes.length);
  });
});

it("they end the same under Kanister's own definition, which prunes what only Janus has", () => {
  for (const failing of outcomesOf(PLAIN)) {
    const [ours, theirs] = [false, true].map((isPruned) =>
      run({ variant: PLAIN, failing, at: 0, what: "nothing", isPruned }),
    );
    expect(theirs?.commands).toEqual(ours?.commands);
    expect(stateOf(theirs?.end)).toBe(stateOf(ours?.end));
    expect(theirs?.requests).toBe(ours?.requests);
    expect(theirs?.left).toEqual([]);
  }
});
