// Scenarios that turn: refusals, rollbacks on request, failures that are recovered from, windows that pass.
import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";
import { onPhase, phaseOf, type UserAction } from "../user-action.ts";
import {
  bareCreation,
  bystander,
  configMap,
  creation,
  deletion,
  MUTATED,
  MUTATION,
  patch,
  refusedCreation,
  replacement,
  spec,
  transaction,
} from "../objects.ts";
import { sleep } from "../over.ts";
import type { Scenario } from "../scenario.ts";
import type { Ref, Users } from "../users.ts";

const a = configMap("a", { value: "old" });
const b = configMap("b", { value: "old" });
const theirs = configMap("b", { whose: "somebody's" });
const mutated = configMap("mutated", { value: "old" }, { labels: MUTATED });
const changes = [patch(a, { data: { value: "new" } }), bareCreation("bare")];

const asks =
  (annotation: string) =>
  async ({ patch }: Users): Promise<void> => {
    await patch({ ...transaction, metadata: { name: "txn", annotations: { [annotation]: "please" } } } as Ref);
  };

/** Not for a store that is let go of before, since the answer to its creation was lost. */
const asksOnceItHasPassed = async (users: Users): Promise<void> => {
  const txn = await users.read({ ...transaction, metadata: { name: "txn" } });
  if (JSON.stringify(txn).includes("WindowPassed")) await asks(REQUEST_ROLLBACK)(users);
};

/** When a Committed one has nothing left to do before its window ends. */
const onRest = (does: UserAction["does"]): UserAction => ({
  when: "after",
  is: ({ purpose }, answer) =>
    purpose === "record" && phaseOf(answer) === "Committed" && JSON.stringify(answer).includes("reversibleUntil"),
  does,
});

const probe = configMap("probe", {}, { labels: MUTATED });

/** The API server knows the parameter of its policy a moment after that was created. */
const onceItMutates = async ({ patch }: Users): Promise<void> => {
  for (let n = 0; n < 100; n += 1) {
    const { metadata } = await patch({ ...probe, data: { n: `${n}` } } as Ref);
    if (metadata.annotations !== undefined) return;
    await sleep(50);
  }
};

/** What was deleted cannot come back: somebody has taken its name. */
const inTheWay = onPhase("RollingBack", async ({ create }) => {
  await create(theirs);
});

/** It is refused, turned back, could not be rolled back, or is over for good. */
export const turns: readonly Scenario[] = [
  {
    name: "what cannot work is refused before anything is touched",
    outcome: "Failed",
    before: [bystander, a, b],
    spec: spec([...changes, creation(b)]),
  },
  {
    name: "what admission sets, as long as an earlier change is in, is restored after that",
    outcome: "RolledBack",
    before: [bystander, probe, mutated],
    spec: spec([
      creation(configMap(MUTATION)),
      patch(mutated, { data: { value: "new" } }),
      changes[1] ?? {},
      refusedCreation,
    ]),
    userActions: [{ when: "before", is: ({ purpose }) => purpose === "restore", does: onceItMutates }],
  },
  {
    name: "somebody asks for a rollback when one change is in",
    outcome: "RolledBack",
    before: [bystander, a],
    spec: spec(changes),
    userActions: [{ when: "after", is: ({ purpose }) => purpose === "change", does: asks(REQUEST_ROLLBACK) }],
  },
  {
    name: "somebody takes over what was changed, and it is left to them",
    outcome: "Failed",
    before: [bystander, a],
    spec: spec([...changes, refusedCreation]),
    userActions: [
      onPhase("RollingBack", async ({ patch }) => {
        await patch(configMap("a", { value: "theirs" }));
      }),
    ],
  },
  {
    name: "what was deleted cannot be created again",
    outcome: "Failed",
    before: [bystander, a, b],
    spec: spec([changes[0] ?? {}, deletion(b), refusedCreation]),
    userActions: [inTheWay],
  },
  {
    name: "what was deleted is created again when nothing is in the way any more and somebody asks for it",
    outcome: "RolledBack",
    before: [bystander, a, b],
    spec: spec([changes[0] ?? {}, deletion(b), refusedCreation]),
    userActions: [inTheWay],
    afterwards: [
      async (users) => {
        if (phaseOf(await users.read(transaction)) !== "Failed") return;
        await users.remove(theirs);
        await asks(RETRY_ROLLBACK)(users);
      },
    ],
  },
  {
    name: "somebody takes the name of what is replaced before the replacement is made, and keeps it",
    outcome: "Failed",
    before: [bystander, a, b],
    spec: spec([changes[0] ?? {}, replacement(configMap("b", { value: "new" }))]),
    userActions: [
      {
        when: "after",
        is: ({ purpose, verb }) => purpose === "change" && verb === "delete",
        does: async ({ create }) => {
          await create(theirs);
        },
      },
    ],
  },
  {
    name: "a Replace is Committed, and rolled back when somebody asks within its window",
    outcome: "RolledBack",
    before: [bystander, a, b],
    spec: spec([...changes, replacement(configMap("b", { value: "new" }))], { rollbackWindow: "1h" }),
    userActions: [onPhase("Committed", asks(REQUEST_ROLLBACK))],
  },
  {
    name: "it is Committed, and rolled back when somebody asks within its window",
    outcome: "RolledBack",
    before: [bystander, a, b],
    spec: spec([...changes, deletion(b)], { rollbackWindow: "1h" }),
    userActions: [onPhase("Committed", asks(REQUEST_ROLLBACK))],
  },
  {
    name: "it is Committed, and rolled back when somebody asks while it rests",
    outcome: "RolledBack",
    before: [bystander, a, b],
    spec: spec([...changes, deletion(b)], { rollbackWindow: "1h" }),
    userActions: [onRest(asks(REQUEST_ROLLBACK))],
  },
  {
    name: "it is Committed, and its snapshots go when its window has passed",
    outcome: "Committed",
    before: [bystander, a, b],
    spec: spec([...changes, deletion(b)], { rollbackWindow: "1s" }),
  },
  {
    name: "somebody asks for a rollback when the window has just passed",
    outcome: "Committed",
    before: [bystander, a],
    spec: spec(changes, { rollbackWindow: "1s" }),
    userActions: [{ when: "before", is: ({ purpose }) => purpose === "release-store", does: asksOnceItHasPassed }],
  },
  {
    name: "somebody asks for a rollback at the end of the window",
    outcome: "Committed",
    orElse: ["RolledBack"],
    before: [bystander, a],
    spec: spec(changes, { rollbackWindow: "1s" }),
    userActions: [
      {
        when: "before",
        is: (request) => request.purpose === "record" && JSON.stringify(request).includes("WindowPassed"),
        does: asks(REQUEST_ROLLBACK),
      },
    ],
  },
  {
    name: "it is deleted within its window, and what is applied stays",
    outcome: "Committed",
    before: [bystander, a, b],
    spec: spec([...changes, deletion(b)], { rollbackWindow: "1h" }),
    userActions: [onRest(({ remove }) => remove(transaction))],
    gone: true,
  },
  {
    name: "somebody takes over what was changed before a Committed one is rolled back",
    outcome: "Failed",
    before: [bystander, a],
    spec: spec(changes, { rollbackWindow: "1h" }),
    userActions: [
      onRest(async (users) => {
        await users.patch(configMap("a", { value: "theirs" }));
        await asks(REQUEST_ROLLBACK)(users);
      }),
    ],
  },
  {
    name: "it is Committed, and goes when its time is over",
    outcome: "Committed",
    before: [bystander, a],
    spec: spec(changes, { ttlSecondsAfterFinished: 1 }),
    gone: true,
  },
  {
    name: "it is RolledBack, and goes at once with what it kept for a look",
    outcome: "RolledBack",
    before: [bystander, a],
    spec: spec([...changes, refusedCreation], { ttlSecondsAfterFinished: 0 }),
    gone: true,
  },
];
