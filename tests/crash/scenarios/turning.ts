import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";
import { onPhase, phaseOf } from "../deed.ts";
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
import type { Ref, Stage } from "../stage.ts";

const a = configMap("a", { value: "old" });
const b = configMap("b", { value: "old" });
const theirs = configMap("b", { whose: "somebody's" });
const changes = [patch(a, { data: { value: "new" } }), bareCreation("bare")];

const asks =
  (annotation: string) =>
  async ({ patch }: Stage): Promise<void> => {
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
    deeds: [{ when: "before", is: ({ purpose }) => purpose === "checkpoint", does: asks(REQUEST_ROLLBACK) }],
  },
  {
    name: "somebody takes over what was changed, and it is left to them",
    outcome: "Failed",
    before: [bystander, a],
    spec: spec([...changes, refusedCreation]),
    deeds: [
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
    deeds: [inTheWay],
  },
  {
    name: "what was deleted is created again when nothing is in the way any more and somebody asks for it",
    outcome: "RolledBack",
    before: [bystander, a, b],
    spec: spec([changes[0] ?? {}, deletion(b), refusedCreation]),
    deeds: [inTheWay],
    afterwards: [
      async (stage) => {
        if (phaseOf(await stage.read(transaction)) !== "Failed") return;
        await stage.remove(theirs);
        await asks(RETRY_ROLLBACK)(stage);
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
