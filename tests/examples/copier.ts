// A controller that looks at two objects: it keeps a copy of every ConfigMap that asks for one. A process, for a test.
import {
  type Answered,
  type ApiRequest,
  type KubeObject,
  type RunnableController,
  runController,
} from "@janus/runtime";
import { configMaps } from "../../examples/own-controller/label-keeper.ts";

interface Memory {
  readonly original: KubeObject;
  /** Undefined: not read yet. */
  readonly copy: KubeObject | "absent" | undefined;
}

const COPY_OF = "example.com/copy-of";

const reading = (namespace: string, name: string): ApiRequest => ({
  purpose: "read-copy",
  request: { verb: "get", resource: configMaps, namespace, name },
});

const copying = ({ apiVersion, kind, metadata, ...content }: KubeObject, name: string): ApiRequest => {
  const { namespace = "", name: original = "", uid = "" } = metadata;
  const ownerReferences = [{ apiVersion, kind, name: original, uid }];
  const body = { apiVersion, kind, metadata: { namespace, name, ownerReferences, labels: { [COPY_OF]: original } } };
  return {
    purpose: "copy",
    request: { verb: "create", resource: configMaps, namespace, body: { ...body, data: content["data"] } },
  };
};

/** Nothing is remembered over a wait: without `refresh`, the copy is read again whenever the original is. */
const copier = (suffix: string): RunnableController<Memory, ApiRequest, Answered<ApiRequest>> => ({
  remember: (original) => ({ original, copy: undefined }),
  decide: ({ original, copy }) => {
    const { namespace = "", name = "", deletionTimestamp } = original.metadata;
    if (deletionTimestamp !== undefined) return { type: "done" };
    if (copy === undefined) return { type: "run", effects: [reading(namespace, `${name}-${suffix}`)] };
    if (copy === "absent") return { type: "run", effects: [copying(original, `${name}-${suffix}`)] };
    return { type: "wait", until: Infinity, because: "there is a copy" };
  },
  observe: (memory, happened) => {
    if (happened.type === "answered") return { memory: { ...memory, copy: happened.object } };
    if (happened.type !== "refused") return { memory };
    const { effect, error } = happened;
    const isAbsent = effect.purpose === "read-copy" && error.type === "refused" && error.notFound === "object";
    return isAbsent ? { memory: { ...memory, copy: "absent" } } : { memory, failed: error };
  },
  eventsOf: (_, happened) =>
    happened.type === "answered" && happened.effect.purpose === "copy"
      ? [{ type: "Normal", reason: "Copied", message: `copied to ${happened.object.metadata.name}` }]
      : [],
  metadataOf: ({ original }) => original.metadata,
  perform: (effect, send) => send(effect),
});

await runController({
  name: "copier",
  about: "Keeps a copy of every ConfigMap with the label copy.",
  version: "1.0.0",
  resource: configMaps,
  labelSelector: "copy",
  watches: [
    {
      resource: configMaps,
      labelSelector: COPY_OF,
      keysOf: ({ metadata: { namespace, labels } }) => [`${namespace}/${labels?.[COPY_OF]}`],
    },
  ],
  flags: {
    options: { suffix: { help: "What the names of copies end with.", default: "copy" } },
    read: ({ suffix = "" }) =>
      suffix === "" ? { ok: false, error: "--suffix takes a name" } : { ok: true, value: { suffix } },
  },
  controller: ({ suffix }) => copier(suffix),
});
