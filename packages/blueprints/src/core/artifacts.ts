// The output artifacts of actions, rendered when all of their phases have ended.
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import type { Artifact } from "../api/blueprint.ts";
import type { Journal } from "./journal.ts";
import { paramsOf } from "./params.ts";
import { type Data, NIL, type Randomness, renderText } from "./templates.ts";
import { isTainted, REDACTED, revealed } from "./text.ts";
import type { Inquiry } from "./requests.ts";
import { scrubbed, type SecretValues } from "./scrub.ts";

/** The most bytes of all artifacts: they are in the status. */
const MOST = 256 * 1024;

/** The means by which the texts of an artifact are rendered. */
interface Rendering {
  readonly data: Data;
  readonly randomness: Randomness;
  readonly secrets: SecretValues;
}

/** Outputs that have a part of the value of a Secret each may have the value together. */
const rendered = (text: string, path: string, { data, randomness, secrets }: Rendering): E.Either<string, string> =>
  E.bimap(
    (problem: string) => `artifact ${path}: ${problem}`,
    (one: Parameters<typeof revealed>[0]) => (isTainted(one) ? REDACTED : scrubbed(revealed(one), secrets)),
  )(renderText(text, data, { ...randomness, at: path }));

const artifactOf = (
  name: string,
  { keyValue, kopiaSnapshot }: Artifact,
  rendering: Rendering,
): E.Either<string, Artifact> =>
  E.flatMap((entries: readonly (readonly [string, string])[]) =>
    E.map(
      (snapshot: string | undefined): Artifact => ({
        ...(keyValue === undefined ? {} : { keyValue: Object.fromEntries(entries) }),
        ...(snapshot === undefined ? {} : { kopiaSnapshot: snapshot }),
      }),
    )(
      kopiaSnapshot === undefined
        ? E.right<string, string | undefined>(undefined)
        : rendered(kopiaSnapshot, `${name}.kopiaSnapshot`, rendering),
    ),
  )(
    E.traverseArray(([key, text]: readonly [string, string]) =>
      E.map((value: string) => [key, value] as const)(rendered(text, `${name}.${key}`, rendering)),
    )(Object.entries(keyValue ?? {})),
  );

/** Renders the artifacts of all actions. Left: what is wrong with one. Undefined: what they need is still to be read. */
export const artifactsOf = (
  ask: Inquiry,
  actionSet: ActionSet,
  journal: Journal,
  secrets: SecretValues,
): E.Either<string, readonly Readonly<Record<string, Artifact>>[]> | undefined => {
  const all: Readonly<Record<string, Artifact>>[] = [];
  for (const [action, { blueprint }] of journal.actions.entries()) {
    const outputs = Object.entries(blueprint.outputArtifacts ?? {});
    const data = outputs.length === 0 ? undefined : paramsOf(ask, actionSet, journal, { action, phase: "artifacts" });
    if (data === undefined && outputs.length > 0) return undefined;
    if (data !== undefined && E.isLeft(data)) return data;
    const randomness = { now: Date.parse(journal.time), seed: `${journal.seed}/artifacts/${action}` };
    const read = E.traverseArray(([name, artifact]: readonly [string, Artifact]) =>
      E.map((one: Artifact) => [name, one] as const)(
        artifactOf(name, artifact, { data: data?.right ?? NIL, randomness, secrets }),
      ),
    )(outputs);
    if (E.isLeft(read)) return read;
    all.push(Object.fromEntries(read.right));
  }
  const bytes = Buffer.byteLength(JSON.stringify(all));
  return bytes > MOST ? E.left(`the artifacts are ${Math.ceil(bytes / 1024)} KiB, 256 KiB is the most`) : E.right(all);
};
