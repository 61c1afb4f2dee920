// Finds the objects of a kind of Kanister in files.
import { GROUP } from "@janus/blueprints/authoring";
import { Failure } from "../failure.ts";
import { type Located, parseManifests } from "./read-manifests.ts";
import { sourcesOf } from "./sources.ts";

/** Those of this kind; what else is in the files does not matter. Errors: what cannot be read; if there is none. */
export const kanisterManifests = async (files: readonly string[], kind: string): Promise<readonly Located[]> => {
  const all: Located[] = [];
  for (const source of files.flatMap((file) => sourcesOf(file, false)))
    all.push(...parseManifests(await source.read(), source.name));
  const found = all.filter(({ manifest }) => manifest.kind === kind && manifest.apiVersion.startsWith(`${GROUP}/`));
  if (found.length === 0) throw new Failure(`there is no ${kind} in ${files.join(", ")}`);
  return found;
};
