import { randomBytes } from "node:crypto";
import type { Client, Hook, Request, Watch } from "@janus/kube";
import { violations } from "../crash/invariants.ts";
import { nameOf, show } from "../crash/mortal.ts";
import { transaction } from "../crash/objects.ts";
import { isOver, sleep } from "../crash/over.ts";
import { type Casting, perform, type Play } from "../crash/play.ts";
import type { Scenario } from "../crash/scenario.ts";
import { must, transactions } from "../crash/world.ts";
import { isWrite, kindOf } from "../trouble/kinds.ts";
import type { Stage } from "../trouble/stage.ts";
import type { Answer } from "./answers.ts";
import { type Bystander, bystander } from "./bystander.ts";

/** A request of a scenario: the same in every play. */
export interface Asked {
  readonly text: string;
  /** From 1. */
  readonly nth: number;
  readonly kind: string;
  readonly writes: boolean;
}

/** What befalls one play. */
export interface Day {
  /** These are answered so, in this order; where it lasts, all of the kind of the last one from then on. */
  readonly requests: readonly Asked[];
  readonly answer: Answer;
  /** Whether the API server is asked all the same. */
  readonly lands: boolean;
  readonly lasts: boolean;
}

export interface Told {
  /** What is wrong. */
  readonly wrong: readonly string[];
  /** Requests for the Transaction, each once. */
  readonly trace: readonly Asked[];
  /** How many there were in all, and how many of them met the answer. */
  readonly requests: number;
  readonly met: number;
}

/** How long an answer lasts that lasts, in ms. */
export const LASTING = 10_000;
/** How long a Transaction may take when the trouble is over, in ms. */
const PATIENCE = 120_000;

/** Of what is told off the critical path, and of what only time brings, one is like another. */
const isUnsteady = ({ purpose = "" }: Request): boolean => ["event", "renew-lock"].includes(purpose);

/** Asked for all at once, whoever they are for. */
const isShared = (kind: string): boolean => /^(discovery|reflect):/.test(kind);

const PLAY = "tests.janus.io/play";

/** Requests for locks: there are more of them the longer it takes. */
const isOfTime = (kind: string): boolean => /^(renew|read)-lock:/.test(kind);

/** The controller of this play sees the Transactions of the play, in whichever namespace they are. */
const widened = <A extends Request | Watch>(request: A, play: string): A => {
  if (!("resource" in request) || request.purpose !== "reflect") return request;
  const { namespace: _, ...rest } = request;
  return { ...rest, labelSelector: `${PLAY}=${play}` } as A;
};

const watching = (client: Client, play: string): Client => ({
  ...client,
  watch: (request, signal) => client.watch(widened(request, play), signal),
});

/** What it is about, without what differs from play to play. */
const textOf = (request: Request, namespace: string): string => {
  if (isUnsteady(request)) return kindOf(request);
  const path = request.verb === "raw" ? ` ${request.path}` : "";
  return `${show(request).replaceAll(namespace, "here")}${path}`;
};

interface Misanswering {
  readonly hook: Hook;
  readonly trace: Asked[];
  readonly told: Count;
}

interface Count {
  requests: number;
  met: number;
  began: number | undefined;
  defect: string | undefined;
  /** It met an answer that cannot be told from the truth. */
  isDeceived: boolean;
}

const nothing = (): Count => ({ requests: 0, met: 0, began: undefined, defect: undefined, isDeceived: false });

const misanswering = (stage: Stage, play: string, day: Day, namespace: string, other: Bystander): Misanswering => {
  const counts = new Map<string, number>();
  const trace: Asked[] = [];
  const told = nothing();
  const left = [...day.requests];

  const isMet = ({ text, nth, kind }: Asked): boolean => {
    const last = day.requests.at(-1);
    if (told.began !== undefined && day.lasts) return kind === last?.kind && performance.now() < told.began + LASTING;
    const [first] = left;
    if (first === undefined || first.text !== text || nth < first.nth) return false;
    left.shift();
    if (left.length === 0) {
      told.began = performance.now();
      other.comes();
    }
    return true;
  };

  const hook: Hook = (asked, next) => {
    const request = widened(asked, play);
    if (request.purpose === "event" && JSON.stringify(request).includes("internal error in Janus"))
      told.defect = nameOf(request);
    if (other.asks(request)) return next(request);
    const text = textOf(asked, namespace);
    const one = { text, nth: (counts.get(text) ?? 0) + 1, kind: kindOf(request), writes: isWrite(request) };
    counts.set(text, one.nth);
    trace.push(one);
    if (!isOfTime(one.kind)) told.requests += 1;
    if (!isMet(one)) return next(request);
    told.met += 1;
    if (day.answer.isTrueToForm?.(request) === true) told.isDeceived = true;
    const lands = !one.writes || day.lands;
    return stage.badWay({ says: day.answer.name, lands }).send(request);
  };
  return { hook, trace, told };
};

/** Deletes the Transaction in the end, where that was to happen at a moment that never came. */
const deleteAtLast = async ({ seen, api }: Casting, namespace: string, over: () => boolean): Promise<void> => {
  let since: number | undefined;
  while (!over()) {
    await sleep(500);
    const sight = seen.of(namespace, "txn");
    if (sight === undefined || sight.isGone || !isOver(sight.object)) since = undefined;
    else since ??= performance.now();
    if (since === undefined || performance.now() < since + 3000) continue;
    await api.send({ verb: "delete", resource: transactions, namespace, name: transaction.metadata.name });
    return;
  }
};

/** The scenario in which whatever the last phase is, it only has to be true; people may come in vain. */
const lenient = (scenario: Scenario, anything: boolean): Scenario => ({
  ...scenario,
  ...(anything ? { orElse: ["Committed", "RolledBack", "Failed", "Pending", "Preparing"] as const } : {}),
  deeds: (scenario.deeds ?? []).map((deed) => ({ ...deed, does: (place) => deed.does(place).catch(() => {}) })),
});

/** What could not be rolled back may be as it was before, or as the change made it; what is said of it is that it is not known. */
const isOfKept = (text: string): boolean => /^(rollback-failed|unknown), but /.test(text);

/** Plays a scenario in which requests are answered so. @param most requests, when it is no storm */
export const playWith = async (
  stage: Stage,
  scenario: Scenario,
  planned: Play,
  day: Day,
  most: number,
): Promise<Told> => {
  const play = randomBytes(5).toString("hex");
  const { casting } = stage;
  const labels = { [PLAY]: play };
  const asked = day.requests.at(-1);
  // Locks run out, and so does time; and whoever deletes the Transaction may come at another moment.
  const mayBeAny = scenario.gone === true || scenario.spec["timeout"] !== undefined;
  const anything = mayBeAny || day.answer.isRefusal === true || day.lasts || isOfTime(asked?.kind ?? "");
  const actors: { other: Bystander; answering: Misanswering }[] = [];
  let isOverNow = false;
  const direct: Parameters<typeof perform>[2] = async ({ namespace }, made) => {
    const other = await bystander(casting, labels);
    for (const { metadata } of made)
      must(
        await casting.api.send({
          verb: "mergePatch",
          resource: transactions,
          namespace,
          name: metadata.name ?? "",
          body: { metadata: { labels } },
        }),
      );
    if (scenario.gone === true) void deleteAtLast(casting, namespace, () => isOverNow);
    const answering = misanswering(stage, play, day, namespace, other);
    actors.push({ other, answering });
    return { fate: () => () => undefined, between: async () => {}, hooks: [answering.hook] };
  };
  const committedAt = async (): Promise<number | undefined> => actors[0]?.other.committed();
  const played = {
    ...lenient(scenario, anything),
    // The controller lives until the bystander has committed, too.
    afterwards: [...(scenario.afterwards ?? []), () => committedAt().catch(() => undefined)],
  };
  const wrong: string[] = [];
  try {
    const end = await perform(
      { ...casting, theirs: watching(casting.theirs, play), patience: PATIENCE },
      played,
      direct,
    );
    if (actors[0]?.answering.told.isDeceived !== true)
      wrong.push(...violations(end, planned).filter((text) => !isOfKept(text)));
  } catch (error) {
    wrong.push(String(error));
  } finally {
    isOverNow = true;
  }
  const told = actors[0]?.answering.told ?? nothing();
  try {
    const at = await committedAt();
    const isLate = at !== undefined && told.began !== undefined && day.lasts && at > told.began + LASTING;
    if (isLate && !isShared(asked?.kind ?? "")) wrong.push("the bystander had to wait until the trouble was over");
  } catch (error) {
    wrong.push(String(error));
  }
  if (told.defect !== undefined) wrong.push(`a defect is told of in ${told.defect}`);
  if (told.requests > most) wrong.push(`${told.requests} requests, of which ${told.met} met it`);
  return { wrong, trace: actors[0]?.answering.trace ?? [], requests: told.requests, met: told.met };
};
