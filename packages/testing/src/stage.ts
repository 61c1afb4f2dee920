// Checks what a simulation is given, and sets its scene.
import { parse, type TransactionManifest } from "@janus/authoring";
import { flattened } from "./live-objects.ts";
import { wrongObjects, wrongOptions } from "./misuse.ts";
import type { SimulateOptions } from "./options.ts";
import { type Scene, sceneOf } from "./scene.ts";
import type { SimulatedObject } from "./simulation.ts";
import { unknownOption } from "./unknown-options.ts";

/** The scene of a Transaction; or, if the API server would refuse to create it, the reasons. */
export type Staged =
  | { readonly type: "ready"; readonly scene: Scene }
  | { readonly type: "refused"; readonly problems: readonly string[]; readonly live: readonly SimulatedObject[] };

const refuse = (mistake: string | undefined): void => {
  if (mistake !== undefined) throw new TypeError(mistake);
};

/** Publishes the Transaction, whatever was approved: the digest is of the objects of a cluster. */
const published = (manifest: TransactionManifest): TransactionManifest => {
  const { approvedDigest: _, ...spec } = manifest.spec;
  return { ...manifest, spec: { ...spec, lifecycle: "Published" } };
};

/** @throws TypeError for live objects or options that say nothing sensible */
export const stage = (
  transaction: unknown,
  liveObjects: readonly SimulatedObject[],
  options: SimulateOptions,
): Staged => {
  refuse(unknownOption(options));
  const live = flattened(liveObjects);
  refuse(wrongObjects(live));
  const parsed = parse(transaction);
  if (!parsed.ok) {
    const problems = parsed.errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
    return { type: "refused", problems, live };
  }
  const manifest = published(parsed.value);
  refuse(wrongOptions(manifest, live, options));
  return { type: "ready", scene: sceneOf(manifest, live, options) };
};
