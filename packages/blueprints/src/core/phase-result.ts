// Folds what a phase has come to into the journal, as far as there is room for it.
import { equal, type JsonObject } from "@janus/types";
import { accountHint } from "./account-hint.ts";
import { retryAt } from "./bounds.ts";
import type { Journal, PhaseRecord } from "./journal.ts";
import type { PhaseContext, PhaseStep } from "./phase-context.ts";
import { fail, phaseAt } from "./phase-step.ts";
import { shortened } from "./project.ts";
import type { RenderedObject } from "./render-args.ts";
import { completed, failed, isStopped, recordOf, recordsOf, running, toBeRetried, withRecord } from "./schedule.ts";
import { scrubbed, type SecretValues, withoutParts } from "./scrub.ts";

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The most bytes of all outputs together, as JSON: they are in the journal. */
const MOST_OUTPUTS = 512 * 1024;

const outputProblem = (journal: Journal): string | undefined => {
  const all = recordsOf(journal).flatMap(({ record: { output, shown } }) => [output ?? [], shown ?? []]);
  const bytes = jsonBytes(all.filter((one) => Object.keys(one).length > 0));
  return bytes > MOST_OUTPUTS
    ? `the outputs of all phases are ${Math.ceil(bytes / 1024)} KiB, 512 KiB is the most`
    : undefined;
};

/** The most bytes of a journal, as JSON: a Secret may have 1 MiB, and each phase that begins takes a little. */
const MOST_JOURNAL = 1_000_000;

const fits = (journal: Journal): boolean => jsonBytes(journal) <= MOST_JOURNAL;

/** The most bytes of the arguments of all phases that run: those that find no room are rendered again after a restart. */
const MOST_ARGS = 128 * 1024;

const withArgs = (journal: Journal, record: PhaseRecord, args: RenderedObject | undefined): PhaseRecord => {
  if (args === undefined || record.args !== undefined) return record;
  const all = recordsOf(journal).flatMap(({ record: other }) => other.args ?? []);
  return jsonBytes([...all, args]) > MOST_ARGS ? record : { ...record, args: args as unknown as JsonObject };
};

/** Drops what matters only while a phase runs. */
const settled = (record: PhaseRecord): PhaseRecord => {
  const { seen, args, ...others } = record;
  return seen === undefined && args === undefined ? record : others;
};

/** Drops what running phases can usually do without: it can be read and rendered again. */
const forgotten = (journal: Journal): Journal =>
  running(journal).reduce((all, id) => {
    const record = recordOf(all, id);
    return record === undefined ? all : withRecord(all, id, settled(record));
  }, journal);

/** The first of these that there is room for, else the last one. */
const fitting = (journal: Journal, ...others: readonly (() => Journal)[]): Journal =>
  others.reduce((chosen, other) => (fits(chosen) ? chosen : other()), journal);

/** Returns the journal after what a phase has come to; messages and outputs that are shown have no values of Secrets. */
export const applied = (journal: Journal, context: PhaseContext, step: PhaseStep, secrets: SecretValues): Journal => {
  const { id, mayRerun, now } = context;
  const record = recordOf(journal, id);
  if (record === undefined) return journal;
  switch (step.type) {
    case "remember": {
      const next = { ...record, remembered: step.remembered };
      return fitting(withRecord(journal, id, withArgs(journal, next, step.args)), () => withRecord(journal, id, next));
    }
    case "end": {
      const shown = Object.fromEntries(
        Object.entries(step.output).map((one) => one.map((text) => scrubbed(text, secrets)) as [string, string]),
      );
      const after = withRecord(journal, id, completed(settled(record), step.output, shown, now));
      const problem = outputProblem(after);
      return problem === undefined
        ? fitting(
            after,
            () => forgotten(after),
            () => applied(journal, context, fail("there is no room for its outputs in the journal"), secrets),
          )
        : applied(journal, context, fail(problem), secrets);
    }
    case "fail": {
      const what = id.phase === "defer" ? "deferPhase" : "phase";
      const why = withoutParts(shortened(scrubbed(step.message, secrets)), secrets);
      const { actionSet, serviceAccount } = context;
      const hint = accountHint(step.message, { ...actionSet, spec: journal.spec }, serviceAccount) ?? [];
      const told = `${what} ${phaseAt(journal, id).name ?? ""}: ${[why, hint].flat().join("; ")}`;
      const message = shortened(told.toWellFormed());
      const isRerun = mayRerun && step.isInterrupted === true && step.isFinal !== true;
      const isLast = id.phase === "defer" ? journal.deletedAt !== undefined && !isRerun : isStopped(journal);
      const at = isLast ? undefined : retryAt(phaseAt(journal, id), record.attempt, isRerun, now);
      const failing = (shown: string): Journal => {
        const failure = { ...step, message: shown };
        if (at !== undefined) return withRecord(journal, id, toBeRetried(settled(record), failure, at));
        const after = withRecord(journal, id, failed(settled(record), failure, now));
        return id.phase === "defer" || after.error !== undefined ? after : { ...after, error: shown };
      };
      const after = failing(message);
      return fitting(
        after,
        () => forgotten(after),
        () => forgotten(failing(shortened(message, 256))),
      );
    }
    case "wait": {
      const { seen } = step;
      if (seen === undefined || equal(seen, record.seen ?? {})) return journal;
      return fitting(withRecord(journal, id, { ...record, seen }), () => journal);
    }
    case "run":
      return journal;
  }
};
