import { setTimeout } from "node:timers/promises";
import { REQUEST_ROLLBACK, RETRY_ROLLBACK, transactions } from "@janus/api";
import type { Api, KubeObject } from "@janus/kube";
import { startReflector } from "@janus/runtime/parts";
import type { Insistent } from "./insist.ts";
import { illegal, isOver, isUnsettled, type ObservedStatus, observedStatusOf } from "./life.ts";
import { plan, type Plan } from "./plan.ts";
import type { Random } from "./random.ts";
import { type End, verdict } from "./verdict.ts";
import { DEPLOYER, HOME } from "./world.ts";

/** A Transaction from its creation to its end. */
interface Course {
  readonly plan: Plan;
  readonly began: number;
  uid: string | undefined;
  last: ObservedStatus | undefined;
  /** What it said of itself, and when after its creation. */
  readonly story: string[];
  isGone: boolean;
  /** What others do around it. */
  around: Promise<unknown>;
}

export interface Workload {
  /** Creates Transactions until `until` says so; resolves when all are created. */
  readonly run: (until: () => boolean) => Promise<void>;
  /** Resolves when every Transaction has come to its end, or when none has for this long, in ms. */
  readonly settle: (patience: number) => Promise<void>;
  readonly active: () => readonly string[];
  readonly ended: () => readonly End[];
  /** When the last one came to its end, by `performance.now()`. */
  readonly lastEnd: () => number;
  /** The one that took the longest from its creation to its end, in ms. */
  readonly longest: () => { readonly took: number; readonly story: readonly string[] };
  /** All targets once more: nothing was changed after the end. */
  readonly lookAgain: () => Promise<void>;
  /** Names of the Transactions that are gone. */
  readonly gone: () => readonly string[];
}

const AT_ONCE = 12;

export const workload = (
  api: Api,
  admin: Insistent,
  chance: Random,
  signal: AbortSignal,
  violated: (what: string) => void,
): Workload => {
  const courses = new Map<string, Course>();
  const ended: End[] = [];
  const checking = new Set<Promise<void>>();
  let count = 0;
  let longest: ReturnType<Workload["longest"]> = { took: 0, story: [] };
  let lastEnd = performance.now();

  const end = async ({ plan, isGone, around }: Course, last: ObservedStatus): Promise<void> => {
    await around;
    const fates = await Promise.all(plan.checkedChanges.map((checked) => checked.fate(admin)));
    const one: End = { plan, last, isGone, fates };
    ended.push(one);
    const wrong = verdict(one);
    if (wrong !== undefined) violated(wrong);
  };

  const see = (object: KubeObject, isGone: boolean): void => {
    const course = courses.get(object.metadata.name ?? "");
    if (course === undefined || (course.uid ?? object.metadata.uid) !== object.metadata.uid) return;
    const now = observedStatusOf(object);
    const wrong = course.last && illegal(course.last, now);
    if (wrong !== undefined) violated(`${course.plan.name}: ${wrong}`);
    const after = ((performance.now() - course.began) / 1000).toFixed(1);
    if (course.last?.message !== now.message || course.last.phase !== now.phase)
      course.story.push(`${course.plan.name} after ${after} s: ${now.phase}: ${now.message}`);
    Object.assign(course, { last: now, isGone, uid: object.metadata.uid });
    if (!isGone && !isOver(now)) return;
    courses.delete(course.plan.name);
    const took = performance.now() - course.began;
    if (took > longest.took) longest = { took, story: course.story };
    lastEnd = performance.now();
    const check: Promise<void> = end(course, now)
      .catch((error: unknown) => {
        if (!signal.aborted) violated(`${course.plan.name} cannot be checked: ${String(error)}`);
      })
      .finally(() => checking.delete(check));
    checking.add(check);
  };
  const { synced } = startReflector(
    api,
    { resource: transactions, namespace: HOME },
    { signal, onEvent: (event) => event.type !== "synced" && see(event.object, event.type === "deleted") },
  );

  const intervene = async ({ name, intervention, after }: Plan): Promise<void> => {
    if (intervention === "nothing") return;
    await setTimeout(after);
    if (intervention === "delete") await admin.remove(transactions, HOME, name);
    else await admin.patch(transactions, HOME, name, { metadata: { annotations: { [REQUEST_ROLLBACK]: "" } } });
  };
  const disturb = async ({ name, checkedChanges, disturbed }: Plan): Promise<void> => {
    if (!disturbed) return;
    while (courses.has(name))
      for (const checked of checkedChanges) {
        if (!courses.has(name)) return;
        await checked.disturb?.(admin);
        await setTimeout(50);
      }
  };

  const begin = async (one: Plan): Promise<void> => {
    await Promise.all(one.checkedChanges.map((checked) => checked.prepare(admin)));
    const created = Promise.withResolvers<void>();
    const around = created.promise.then(() => Promise.all([intervene(one), disturb(one)]));
    courses.set(one.name, {
      plan: one,
      began: performance.now(),
      uid: undefined,
      last: undefined,
      story: [],
      isGone: false,
      around,
    });
    await admin.create(transactions, HOME, {
      metadata: { name: one.name },
      spec: { serviceAccountName: DEPLOYER, changes: one.checkedChanges.map(({ change }) => change), ...one.spec },
    });
    created.resolve();
    around.catch(() => {}); // told of at its end
  };

  return {
    run: async (until) => {
      await synced;
      const lane = async (): Promise<void> => {
        while (!until() && !signal.aborted) {
          count += 1;
          await begin(plan(count, chance));
          await setTimeout(chance.below(500));
          while (courses.size >= AT_ONCE && !until()) await setTimeout(50);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE / 2 }, lane));
    },
    settle: async (patience) => {
      lastEnd = performance.now();
      let asked = performance.now();
      while (courses.size > 0 && performance.now() - lastEnd < patience) {
        await setTimeout(100);
        if (performance.now() - asked < 10_000) continue;
        asked = performance.now();
        for (const { plan, last } of courses.values())
          if (last !== undefined && isUnsettled(last))
            await admin.patch(transactions, HOME, plan.name, { metadata: { annotations: { [RETRY_ROLLBACK]: "" } } });
      }
      await Promise.all(checking);
    },
    active: () =>
      [...courses.values()].map(
        ({ plan, last }) => `${plan.name} (${last?.phase ?? "unseen"}: ${last?.message ?? ""})`,
      ),
    ended: () => ended,
    lastEnd: () => lastEnd,
    longest: () => longest,
    lookAgain: async () => {
      for (const one of ended) {
        const fates = await Promise.all(one.plan.checkedChanges.map((checked) => checked.fate(admin)));
        const isSame = JSON.stringify(fates) === JSON.stringify(one.fates);
        if (!isSame)
          violated(
            `${one.plan.name} was changed after its end: ${JSON.stringify(one.fates)} → ${JSON.stringify(fates)}`,
          );
      }
    },
    gone: () => ended.filter(({ isGone }) => isGone).map(({ plan }) => plan.name),
  };
};
