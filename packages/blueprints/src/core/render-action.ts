// Renders the phases of an action without a cluster, from values that stand for what the controller would read.
import { type Json, type JsonObject, type KubeObject, asObject, isObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet, ActionSpec } from "../api/action-set.ts";
import type { Artifact, BlueprintAction, BlueprintPhase } from "../api/blueprint.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import { readArgs, renderArgs } from "./args.ts";
import { artifactsOf } from "./artifacts.ts";
import { functionOf } from "./functions/index.ts";
import { type Journal, newJournal } from "./journal.ts";
import type { Answer } from "./memory.ts";
import { paramsOf, type Rendering } from "./params.ts";
import type { RenderedJson } from "./render-args.ts";
import type { Inquiry } from "./requests.ts";
import { NO_SECRETS } from "./scrub.ts";
import { isText, REDACTED } from "./text.ts";

/** Stands for the cluster: manifests in place of references, and the outputs of phases by their names. */
export type Values = Pick<ActionSpec, "options" | "artifacts" | "podOverride" | "podLabels" | "podAnnotations"> & {
  readonly object?: KubeObject;
  /** Pods, containers and claims of a workload, as templates see them. */
  readonly workload?: JsonObject;
  readonly configMaps?: Readonly<Record<string, KubeObject>>;
  readonly secrets?: Readonly<Record<string, KubeObject>>;
  readonly profile?: KubeObject;
  /** The other objects that are read: the Secret of the Profile, the objects of phases. */
  readonly objects?: readonly KubeObject[];
  readonly outputs?: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

export interface RenderedPhase {
  readonly name: string;
  readonly func: string;
  /** The rendered arguments, without the values of Secrets. Left: why rendering fails. */
  readonly args: E.Either<string, JsonObject>;
}

export interface RenderedAction {
  readonly phases: readonly RenderedPhase[];
  readonly artifacts: E.Either<string, Readonly<Record<string, Artifact>>>;
}

/** The names of those of which a value may have the manifest. */
const KEYS = ["object", "workload", "configMaps", "secrets", "profile", "objects", "outputs"] as const;
const OF_ACTION = ["options", "artifacts", "podOverride", "podLabels", "podAnnotations"] as const;

/** Reads values. Left: what is not among them. */
export const valuesOf = (value: unknown): E.Either<string, Values> => {
  if (!isObject(value)) return E.left("must be an object");
  const known: readonly string[] = [...KEYS, ...OF_ACTION];
  const other = Object.keys(value).find((name) => !known.includes(name));
  if (other !== undefined) return E.left(`"${other}" is not a value: there is ${known.join(", ")}`);
  const nested = ["configMaps", "secrets"].flatMap((name) => Object.entries(asObject(value[name])));
  const manifests = [
    ...["object", "profile"].flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]] as const])),
    ...nested,
    ...(Array.isArray(value["objects"]) ? value["objects"] : []).map((one, at) => [`objects[${at}]`, one] as const),
  ];
  const wrong = manifests.find(([, one]) => typeof asObject(asObject(one)["metadata"])["name"] !== "string");
  return wrong === undefined ? E.right(value) : E.left(`${wrong[0]} must be a manifest, with metadata.name`);
};

/** A manifest of an object; a Profile, ConfigMap or Secret need not name its kind, which follows from its place. */
type Manifest = Pick<KubeObject, "metadata"> & { readonly kind?: string };

const refOf = ({ kind = "", metadata: { name = "", namespace } }: Manifest): ObjectReference => ({
  kind: kind.toLowerCase(),
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

const refsOf = (all: Readonly<Record<string, KubeObject>> = {}): Readonly<Record<string, ObjectReference>> =>
  Object.fromEntries(Object.entries(all).map(([name, object]) => [name, refOf(object)]));

/** Returns an object as the API server would have stored it. */
const stored = (object: KubeObject, own: string): KubeObject => {
  const texts = Object.entries(asObject(object["stringData"])).map(([key, value]) => [
    key,
    Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64"),
  ]);
  return {
    ...object,
    metadata: { namespace: own, ...object.metadata },
    ...(texts.length === 0 ? {} : { data: { ...asObject(object["data"]), ...Object.fromEntries(texts) } }),
  };
};

/** Answers each question from the values. */
const answering = ({ configMaps = {}, secrets = {}, profile, objects = [] }: Values, own: string): Inquiry => {
  const known = [
    ...Object.values(configMaps).map((one) => ({ ...one, kind: "ConfigMap" })),
    ...Object.values(secrets).map((one) => ({ ...one, kind: "Secret" })),
    ...(profile === undefined ? [] : [{ ...profile, kind: "Profile" }]),
    ...objects,
  ].map((one) => stored(one, own));
  return {
    missing: [],
    ask: ({ request }): Answer => {
      const { resource, namespace, name } = request as { readonly resource: { readonly kind: string } } & {
        readonly namespace?: string;
        readonly name?: string;
      };
      const found = known.find(
        ({ kind, metadata }) =>
          kind === resource.kind && metadata.name === name && metadata.namespace === (namespace ?? own),
      );
      return found === undefined
        ? E.left({
            type: "refused",
            code: 404,
            reason: "NotFound",
            message: "it is not among the values",
            causes: [],
            notFound: "object",
          })
        : E.right(found);
    },
  };
};

/** Shows something in place of rendered text: nothing that depends on a Secret. */
const shown = (value: RenderedJson): Json => {
  if (isText(value)) return value.pieces.map(({ text, isTainted: isSecret }) => (isSecret ? REDACTED : text)).join("");
  if (Array.isArray(value)) return (value as readonly RenderedJson[]).map(shown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shown(one)]));
};

const NOTHING_READ = "something that it names is not among the values";

/**
 * An action as it would be executed, each phase after the outputs of those before it.
 *
 * @param at the namespace of the ActionSet, and `.Time` of templates
 */
export const renderedAction = (
  name: string,
  blueprint: BlueprintAction,
  values: Values,
  at: { readonly namespace: string; readonly time: string },
): RenderedAction => {
  const { object, workload = {}, configMaps = {}, secrets = {}, profile, outputs = {}, objects: _, ...given } = values;
  const spec: ActionSpec = {
    name,
    ...given,
    configMaps: refsOf(configMaps),
    secrets: refsOf(secrets),
    ...(object === undefined ? {} : { object: refOf(stored(object, at.namespace)) }),
    ...(profile === undefined ? {} : { profile: refOf(profile) }),
  };
  const actionSet: ActionSet = {
    metadata: { name, namespace: at.namespace, uid: "", resourceVersion: "" },
    spec: { actions: [spec] },
  };
  const inquiry = answering(values, at.namespace);
  const done = ({ name: called = "" }: BlueprintPhase) => ({
    state: "complete",
    attempt: 1,
    output: outputs[called] ?? {},
  });
  const { phases = [], deferPhase } = blueprint;
  /** The journal when this phase is rendered: those before it are done. */
  const journalAt = (phase: Rendering["phase"]): Journal =>
    newJournal({
      serviceAccount: "",
      time: at.time,
      seed: "",
      spec: { actions: [spec] },
      actions: [
        {
          blueprint,
          phases: phases.map((one, index) =>
            typeof phase === "number" && index >= phase
              ? { state: index === phase ? "running" : "pending", attempt: 1 }
              : done(one),
          ),
          ...(deferPhase === undefined
            ? {}
            : {
                deferPhase:
                  phase === "artifacts"
                    ? done(deferPhase)
                    : { state: phase === "defer" ? "running" : "pending", attempt: 1 },
              }),
          ...(object === undefined || object.kind === "Secret"
            ? {}
            : { object: stored(object, at.namespace) as unknown as JsonObject }),
          workload,
          configMaps: Object.fromEntries(
            Object.entries(configMaps).map(([key, one]) => [key, stored(one, at.namespace) as unknown as JsonObject]),
          ),
        },
      ],
    });
  const render = ({ name: called = "", func = "", args = {} }: BlueprintPhase, phase: number | "defer") => {
    const table = functionOf(func)?.args ?? {};
    const data = paramsOf(inquiry, actionSet, journalAt(phase), { action: 0, phase }) ?? E.left(NOTHING_READ);
    const checked = E.flatMap(data, (params) => {
      const rendered = renderArgs(table, args, params, { now: Date.parse(at.time), seed: `${phase}` });
      const read = E.flatMap(rendered, (all) => E.map(() => shown(all) as JsonObject)(readArgs(table, all)));
      // A document that cannot be read at all is no problem of this phase.
      return E.mapLeft((problem: string) => `phase ${called}: ${problem}`)(read);
    });
    return { name: called, func, args: checked };
  };
  const artifacts = artifactsOf(inquiry, actionSet, journalAt("artifacts"), NO_SECRETS) ?? E.left(NOTHING_READ);
  return {
    phases: [
      ...phases.map((one, index) => render(one, index)),
      ...(deferPhase === undefined ? [] : [render(deferPhase, "defer")]),
    ],
    artifacts: E.map((all: readonly Readonly<Record<string, Artifact>>[]) => all[0] ?? {})(artifacts),
  };
};
