// Keeps a label on every ConfigMap that has been given none: what should happen, as a pure function.
import { type ApiRequest, type KubeObject, objectController, type Resource } from "@janus/runtime";

export const configMaps: Resource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
  statusSubresource: false,
};

const LABEL = "example.com/team";

/** The version that was read is a precondition: nobody's edit is overwritten. */
const labelled = ({ metadata: { namespace = "", name = "", uid, resourceVersion } }: KubeObject): ApiRequest => ({
  purpose: "label",
  request: {
    verb: "mergePatch",
    resource: configMaps,
    namespace,
    name,
    body: { metadata: { uid, resourceVersion, labels: { [LABEL]: "unowned" } } },
    fieldManager: "label-keeper",
  },
});

export const labelKeeper = objectController((object) => {
  const { labels = {}, deletionTimestamp } = object.metadata;
  if (labels[LABEL] !== undefined) return { type: "wait", until: Infinity, because: "it has the label" };
  return deletionTimestamp === undefined ? { type: "run", effects: [labelled(object)] } : { type: "done" };
});
