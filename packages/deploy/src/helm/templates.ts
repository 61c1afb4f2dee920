import type { Manifest } from "../render.ts";
import { installation } from "../installation.ts";
import { fill, forEach, samplesOf } from "./fill.ts";
import { mergeEntries } from "./merge.ts";
import { type Entry, nodeOf } from "./node.ts";
import { template } from "./print.ts";
import { propsOf } from "./props.ts";
import { collect, type Placed, placed } from "./value.ts";
import { type ChartValues, values } from "./values.ts";

const namespace = "sample-namespace";
const ofRelease = { json: namespace, read: "$.Release.Namespace", optional: false };
const filled = fill([ofRelease, ...samplesOf(values)]);

/** Helm leaves these alone when the release is uninstalled: `docs/uninstall.md` says why. */
const stays = ({ kind, metadata }: Manifest): boolean =>
  kind === "CustomResourceDefinition" || metadata.name === "janus-fence";

const kept = (object: Manifest): object => ({
  ...object,
  metadata: { ...object.metadata, annotations: { "helm.sh/resource-policy": "keep" } },
});

/** What the constructs make of samples, with these choices made, each object under a key of its own. */
const objectsWith = (chosen: ReadonlyMap<string, unknown>): readonly Entry[] => {
  const sampled = collect(values, ({ path, value }) =>
    chosen.has(path) ? chosen.get(path) : value.sample,
  ) as ChartValues;
  // Without leader election there is one controller, whatever is said: another number is refused.
  const replicas = sampled.controller.leaderElection.enabled ? sampled.replicas : null;
  return installation(propsOf({ ...sampled, replicas }, namespace))
    .filter(({ kind }) => kind !== "Namespace") // Helm wants it to be there before
    .map((object) => [
      [object.kind, object.metadata.name, object.metadata.namespace].join(" "),
      nodeOf(stays(object) ? kept(object) : object),
    ]);
};

/** The objects of every combination of choices, merged. */
const merged = (choices: readonly Placed[], chosen: ReadonlyMap<string, unknown>): readonly Entry[] => {
  const [first, ...others] = choices;
  if (first?.value.choice === undefined) return objectsWith(chosen);
  const {
    path,
    value: {
      choice: { when, yes, no },
    },
  } = first;
  const having = (choice: unknown) => merged(others, new Map([...chosen, [path, choice]]));
  return mergeEntries(when(`$.Values.${path}`), having(yes), having(no));
};

/** The templates of the chart by their file names: objects of the same kind and name are in the same file. */
export const templates = (): Readonly<Record<string, string>> => {
  const objects = merged(
    placed(values).filter(({ value }) => value.choice !== undefined),
    new Map(),
  );
  const files = Map.groupBy(objects, ([key]) => `${key.split(" ").slice(0, 2).join("-").toLowerCase()}.yaml`);
  return Object.fromEntries(
    [...files].map(([file, entries]) => [file, template(entries.map(([, node]) => forEach(filled(node))))]),
  );
};
