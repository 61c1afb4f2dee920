// Scenarios in which somebody deletes a Transaction, in each of its phases.
import type { Phase } from "@janus/api";
import { type UserAction, onPhase } from "../user-action.ts";
import { sleep } from "../over.ts";
import { bareCreation, bystander, configMap, creation, patch, refusedCreation, spec, transaction } from "../objects.ts";
import type { Scenario } from "../scenario.ts";
import type { Users } from "../users.ts";

const a = configMap("a", { value: "old" });
const changes = [patch(a, { data: { value: "new" } }), bareCreation("bare")];

const deletes = ({ remove }: Users): Promise<void> => remove(transaction);

/** The controller hears of it through its watch, which is not waited for: without this head start it may be finished before. */
const deletesAhead = async (users: Users): Promise<void> => {
  await deletes(users);
  await sleep(500);
};

const takesOver = onPhase("RollingBack", async ({ patch }) => {
  await patch(configMap("a", { value: "theirs" }));
});

/** How the Transaction fares till then: the last change is refused; and what is in cannot be rolled back; or nothing is touched. */
const FARES: Readonly<Record<"well" | "refused" | "kept" | "barred", Pick<Scenario, "userActions" | "spec">>> = {
  well: { spec: spec(changes) },
  refused: { spec: spec([...changes, refusedCreation]) },
  kept: { spec: spec([...changes, refusedCreation]), userActions: [takesOver] },
  barred: { spec: spec([...changes, creation(bystander)]) },
};

/** When it is deleted; `ends`: its last phase by deletionPolicy. */
interface Moment extends Pick<Scenario, "orElse"> {
  readonly when: string;
  readonly userAction: UserAction;
  readonly ends: { readonly Release: Phase; readonly Rollback?: Phase };
  /** Default: well */
  readonly fares?: keyof typeof FARES;
}

const isWrite =
  (purpose: string): UserAction["is"] =>
  (request) =>
    request.purpose === purpose && !("dryRun" in request && request.dryRun);

const beforeWrite = (purpose: string): UserAction => ({ when: "before", is: isWrite(purpose), does: deletes });

const commits: UserAction["is"] = (request) =>
  request.purpose === "record" && JSON.stringify(request).includes('"phase":"Committed"');

const always = (phase: Phase): Moment["ends"] => ({ Release: phase, Rollback: phase });

const moments: readonly Moment[] = [
  {
    when: "Pending, before the finalizer is on",
    userAction: beforeWrite("finalizer"),
    ends: { Release: "Pending" },
  },
  {
    when: "Pending, when the finalizer is on",
    userAction: { when: "after", is: ({ purpose }) => purpose === "finalizer", does: deletes },
    ends: always("Pending"),
  },
  { when: "Preparing", userAction: onPhase("Preparing", deletes), ends: always("Failed") },
  {
    when: "Preparing, when the snapshot is being written",
    userAction: beforeWrite("store"),
    ends: { Release: "Failed" },
  },
  {
    when: "Committing, before anything is in",
    userAction: onPhase("Committing", deletesAhead),
    ends: { Release: "Failed", Rollback: "RolledBack" },
    orElse: ["Committed"],
  },
  {
    when: "Committing, when one change is in",
    userAction: { when: "after", is: isWrite("change"), does: deletesAhead },
    ends: { Release: "Failed", Rollback: "RolledBack" },
    orElse: ["Committed"],
  },
  {
    when: "Committing, when everything is in",
    userAction: { when: "before", is: commits, does: deletes },
    ends: { Release: "Committed", Rollback: "RolledBack" },
  },
  {
    when: "RollingBack",
    userAction: onPhase("RollingBack", deletes),
    ends: { Release: "Failed", Rollback: "RolledBack" },
    fares: "refused",
  },
  {
    when: "RollingBack, when one change is undone",
    userAction: { when: "after", is: ({ purpose }) => purpose === "restore", does: deletes },
    ends: { Release: "Failed" },
    fares: "refused",
  },
  { when: "Committed", userAction: onPhase("Committed", deletes), ends: always("Committed") },
  { when: "RolledBack", userAction: onPhase("RolledBack", deletes), ends: always("RolledBack"), fares: "refused" },
  {
    when: "Failed, and no changes applied",
    userAction: onPhase("Failed", deletes),
    ends: { Release: "Failed" },
    fares: "barred",
  },
  {
    when: "Failed, and not all rolled back",
    userAction: onPhase("Failed", deletes),
    ends: always("Failed"),
    fares: "kept",
  },
];

/** Somebody deletes the Transaction, in each phase. It goes, and leaves what its deletionPolicy says. */
export const deletions: readonly Scenario[] = (["Release", "Rollback"] as const).flatMap((deletionPolicy) =>
  moments.flatMap(({ when, userAction, ends, orElse, fares = "well" }): readonly Scenario[] => {
    const { spec, userActions = [] } = FARES[fares];
    const outcome = ends[deletionPolicy];
    return outcome === undefined
      ? []
      : [
          {
            name: `${deletionPolicy}: ${when}`,
            outcome,
            // What is to be rolled back is rolled back whenever it is heard of.
            ...(orElse === undefined || deletionPolicy === "Rollback" ? {} : { orElse }),
            before: [bystander, a],
            spec: { ...spec, deletionPolicy },
            userActions: [...userActions, userAction],
            gone: true,
          },
        ];
  }),
);
