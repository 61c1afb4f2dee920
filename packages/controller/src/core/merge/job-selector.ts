// Removes the selector and labels that the API server generates from the uid of a Job.
import { asObject, type KubeObject, without } from "@janus/types";

const OF_UID: readonly string[] = ["controller-uid", "batch.kubernetes.io/controller-uid"];

/**
 * The object without the values that the API server generates from its uid: the selector of a Job, and the
 * labels that it selects.
 * https://kubernetes.io/docs/concepts/workloads/controllers/job/#specifying-your-own-pod-selector
 */
export const withoutGenerated = (object: KubeObject): KubeObject => {
  const spec = asObject(object["spec"]);
  if (object.kind !== "Job" || object.apiVersion !== "batch/v1" || spec["manualSelector"] === true) return object;
  const template = asObject(spec["template"]);
  const metadata = asObject(template["metadata"]);
  const labels = without(metadata["labels"], OF_UID);
  return {
    ...object,
    spec: { ...without(spec, ["selector"]), template: { ...template, metadata: { ...metadata, labels } } },
  };
};
