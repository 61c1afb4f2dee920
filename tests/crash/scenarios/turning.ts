import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";
import { onPhase, phaseOf } from "../user-action.ts";
import {
  bareCreation,
  bystander,
  configMap,
  creation,
  deletion,
  patch,
  refusedCreation,
  spec,
  transaction,
} from "../objects.ts";
import type { Scenario } from "../scenario.ts";
import type { Ref, Users } from "../users.ts";

const a = configMap("a", { value: "old" });
const b = configMap("b", { value: "old" });
const theirs = configMap("b", { whose: "somebody's" });
const changes = [patch(a, { data: { value: "new" } }), bareCreation("bare")];

const asks =
  (annotation: string) =>
  async ({ patch }: Users): Promise<void> => {
    await patch({ ...transaction, metadata: { name: "txn", annotations: { [annotation]: "please" } } } as Ref);
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
    name: "somebody asks for a rollback when one change is in",
    outcome: "RolledBack",
    before: [bystander, a],
    spec: spec(changes),
    userActions: [{ when: "before", is: ({ purpose }) => purpose === "checkpoint", does: asks(REQUEST_ROLLBACK) }],
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
