// Says what became of each object of the four kinds: by itself, by its server, and by the worker of its branch.
import * as E from "fp-ts/lib/Either.js";
import type { Readiness } from "./conditions.ts";
import { type Failed, type Kind, objectId } from "./configured.ts";
import type { DestinationReport } from "./journaled-branch.ts";
import { notReady, type Repository } from "./located.ts";
import type { ObservedObject, Placed, Resolution, Writing } from "./wanted.ts";

/** The news of servers and workers. */
export interface Progress {
  /** Maps the keys of GitRepoConfigs to the state of their repositories. */
  readonly repositories: ReadonlyMap<string, Readiness>;
  /** Maps the names of destinations to the reports of workers. */
  readonly reports: ReadonlyMap<string, DestinationReport>;
  /** Whether objects are written; false: they are only validated. */
  readonly ingests: boolean;
}

export interface Told {
  readonly observed: ObservedObject;
  readonly readiness: Readiness;
  /** The URL of a GitRepoConfig, without a password. */
  readonly url?: string;
  /** The report of a GitDestination. */
  readonly report?: DestinationReport;
}

/** The most entries in a message: a rule may name many resources. */
const MOST = 10;

const listed = (texts: readonly string[]): string =>
  [...texts.slice(0, MOST), ...(texts.length > MOST ? [`${texts.length - MOST} more`] : [])].join("; ");

const ready = (message: string): Readiness => ({ type: "ready", reason: "Ready", message });

const validating = (message: string): Readiness => ({ type: "progressing", reason: "Validating", message });

export const CHECKING: Readiness = { type: "progressing", reason: "Checking", message: "the server is being asked" };

/** The readiness of a destination, without regard to its rules. */
const writable = (name: string, placed: Placed, { repositories, reports, ingests }: Progress): Readiness => {
  if (placed.blocked !== undefined) return placed.blocked;
  const known = repositories.get(placed.config) ?? CHECKING;
  const report = reports.get(name);
  if (known.type === "failed") return notReady("GitRepoConfig", placed.config, known);
  if (ingests && report !== undefined) return report.readiness;
  if (known.type === "progressing") return { ...known, message: `GitRepoConfig ${placed.config}: ${known.message}` };
  return ingests
    ? validating("the first comparison with the branch is under way")
    : ready("it is valid; nothing is written, by the controller's flag --enable-watch-ingestion=false");
};

/** Puts what is wrong with the spec first: it stays until somebody changes it, whatever servers and workers say. */
const asSpecified = ({ withoutSecrets }: Placed, found: Readiness): Readiness => {
  if (withoutSecrets === undefined || found.type !== "failed") return withoutSecrets ?? found;
  return { ...withoutSecrets, message: `${withoutSecrets.message}; ${found.reason}: ${found.message}` };
};

const destination = (name: string, placed: Placed, progress: Progress): Readiness => {
  const { withoutRules, blocked, config } = placed;
  const isWithoutRules =
    blocked === undefined && progress.repositories.get(config)?.type !== "failed" && withoutRules !== undefined;
  return asSpecified(
    placed,
    isWithoutRules
      ? { type: "failed", reason: "NoRules", message: withoutRules, lasts: false }
      : writable(name, placed, progress),
  );
};

const repository = ({ findings }: Repository, known: Readiness | undefined): Readiness =>
  known?.type === "ready" && findings.length > 0
    ? { ...known, message: `${known.message}; ${listed(findings)}` }
    : (known ?? CHECKING);

const rule = (
  { destination: name, isThroughDestination, findings }: Writing,
  all: Resolution,
  progress: Progress,
): Readiness => {
  const explicit = all.destinations.get(name);
  const placed = explicit !== undefined && E.isRight(explicit) ? explicit.right : all.implicit.get(name);
  if (placed === undefined) return validating(`${name} is being looked for`);
  const written = asSpecified(placed, writable(name, placed, progress));
  if (written.type === "failed") return isThroughDestination ? notReady("GitDestination", name, written) : written;
  if (written.type === "progressing") return written;
  const what = `writes to ${isThroughDestination ? `GitDestination ${name}` : name}`;
  return ready(findings.length === 0 ? what : `${what}; not written: ${listed(findings)}`);
};

/** Maps the ids of all objects to what became of them. */
export const readinessOf = (all: Resolution, progress: Progress): ReadonlyMap<string, Told> => {
  const told = <A>(
    kind: Kind,
    judged: ReadonlyMap<string, E.Either<Failed, A>>,
    of: (key: string, one: A) => Omit<Told, "observed">,
  ): readonly (readonly [string, Told])[] =>
    [...judged].flatMap(([key, one]) => {
      const id = objectId(kind, key);
      const observed = all.observed.get(id);
      if (observed === undefined) return [];
      return [[id, { observed, ...(E.isLeft(one) ? { readiness: one.left } : of(key, one.right)) }] as const];
    });
  const ofRule = (_: string, one: Writing) => ({ readiness: rule(one, all, progress) });
  return new Map([
    ...told("GitRepoConfig", all.repositories, (key, one) => ({
      readiness: repository(one, progress.repositories.get(key)),
      url: one.url.url,
    })),
    ...told("GitDestination", all.destinations, (key, placed) => {
      const report = progress.reports.get(key);
      return { readiness: destination(key, placed, progress), ...(report === undefined ? {} : { report }) };
    }),
    ...told("WatchRule", all.rules.WatchRule, ofRule),
    ...told("ClusterWatchRule", all.rules.ClusterWatchRule, ofRule),
  ]);
};

/** The number of objects of a kind that are not Ready for a reason. */
export interface NotReady {
  readonly kind: string;
  readonly reason: string;
  /** Whether they stay so until somebody changes something. */
  readonly stalled: boolean;
  readonly count: number;
}

export const notReadyOnes = (all: ReadonlyMap<string, Told>): readonly NotReady[] => {
  const failures = [...all].flatMap(([id, { readiness }]) =>
    readiness.type === "failed"
      ? [{ kind: id.slice(0, id.indexOf(" ")), reason: readiness.reason, stalled: readiness.lasts }]
      : [],
  );
  const alike = Map.groupBy(failures, ({ kind, reason, stalled }) => `${kind} ${reason} ${stalled}`);
  return [...alike.values()].flatMap((ones) => ones.slice(0, 1).map((one) => ({ ...one, count: ones.length })));
};
