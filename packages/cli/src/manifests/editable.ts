// Prints a Draft for an editor, and parses what its author has saved.
import { API_VERSION, KIND, type Transaction } from "@janus/api";
import { parse, type SpecManifest } from "@janus/authoring";
import type { KubeObject } from "@janus/kube";
import { asObject } from "@janus/types";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "./kubernetes-yaml.ts";
import { Failure } from "../failure.ts";
import type { Located } from "./read-manifests.ts";

const HEAD = `# Edit spec of this Draft, then save and close the file. Lines that begin with # are ignored; a
# file with nothing else cancels. metadata cannot be edited here. The lifecycle has commands of
# its own: kubectl janus propose, approve and reject.
`;

/** A Draft as its author edits it. */
export const editableText = ({ metadata: { name, namespace }, ...draft }: KubeObject): string => {
  const { lifecycle: _, ...spec } = asObject(draft["spec"]);
  const shown = { apiVersion: API_VERSION, kind: KIND, metadata: { name, namespace }, spec };
  return HEAD + stringify(shown, { ...KUBERNETES_YAML, lineWidth: 0, aliasDuplicateObjects: false });
};

/**
 * The spec of the Draft that was edited.
 *
 * @param all the manifests of the file.
 * Errors: if it is not this Transaction, or moves it through its lifecycle; every mistake with its path.
 */
export const editedSpec = (all: readonly Located[], { metadata }: Transaction): SpecManifest | undefined => {
  const [edited, second] = all;
  if (edited === undefined) return undefined;
  if (second !== undefined) throw new Failure(`${second.where}: only one Transaction can be edited at a time`);
  const parsed = parse(edited.manifest);
  if (!parsed.ok) {
    const wrong = parsed.errors.map(({ path, message }) => `\n  ${path}: ${message}`).join("");
    throw new Failure(`${edited.where}: the Transaction is not valid:${wrong}`);
  }
  const { name, namespace = metadata.namespace } = parsed.value.metadata;
  const on = `${metadata.namespace}/${metadata.name}`;
  if (`${namespace}/${name}` !== on)
    throw new Failure(`${edited.where}: it is Transaction ${namespace}/${name}, but ${on} is to be edited`);
  const { spec } = parsed.value;
  if (spec.lifecycle !== undefined && spec.lifecycle !== "Draft")
    throw new Failure(
      `${edited.where}: an edit leaves spec.lifecycle as it is. To move it: ` +
        `kubectl janus propose ${name} -n ${namespace}`,
    );
  return { ...spec, lifecycle: "Draft" };
};
