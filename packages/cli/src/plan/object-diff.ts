// Prints a unified diff of two versions of an object as YAML.
import type { KubeObject, Resource } from "@janus/kube";
import { createTwoFilesPatch } from "diff";
import { stringify } from "yaml";
import { COMPARED_YAML } from "../manifests/kubernetes-yaml.ts";
import type { Paint } from "../output/style.ts";
import { maskedPair } from "./masked.ts";

/** Fields that change with every write, or say who wrote what. */
const NOISE: readonly string[] = ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"];

const compared = (
  object: KubeObject | undefined,
  { statusSubresource }: Pick<Resource, "statusSubresource">,
): string => {
  if (object === undefined) return "";
  const { metadata, status, ...rest } = object;
  const fields = statusSubresource || status === undefined ? rest : { ...rest, status };
  const kept = Object.fromEntries(Object.entries(metadata).filter(([name]) => !NOISE.includes(name)));
  return stringify(
    { ...fields, metadata: kept },
    {
      ...COMPARED_YAML,
      sortMapEntries: true,
      lineWidth: 0,
      aliasDuplicateObjects: false,
    },
  );
};

/**
 * A unified diff of two versions of an object as YAML; empty if nothing differs. Values of Secrets are masked; a
 * status that is a subresource is left out, since no Transaction sets it.
 *
 * @param isConcealed see {@link maskedPair}
 */
export const objectDiff = (
  name: string,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  resource: Pick<Resource, "statusSubresource">,
  isConcealed = false,
): string => {
  const [live, merged] = maskedPair(before, after, isConcealed).map((object) => compared(object, resource));
  if (live === merged) return "";
  const patch = createTwoFilesPatch(`live ${name}`, `after ${name}`, live ?? "", merged ?? "", "", "", { context: 3 });
  return patch.split("\n").slice(1).join("\n");
};

/** The diff with the colours of `git diff`. */
export const colouredDiff = (diff: string, paint: Paint): string =>
  diff
    .split("\n")
    .map((line) => {
      if (line.startsWith("---") || line.startsWith("+++")) return paint("bold", line);
      if (line.startsWith("@@")) return paint("cyan", line);
      if (line.startsWith("+")) return paint("green", line);
      return line.startsWith("-") ? paint("red", line) : line;
    })
    .join("\n");
