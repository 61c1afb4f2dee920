// Scenarios that wait for a lock or a finalizer, and some in vain.
import { type UserAction, onPhase } from "../user-action.ts";
import {
  bystander,
  configMap,
  creation,
  deletion,
  lock,
  patch,
  refusedCreation,
  replacement,
  spec,
} from "../objects.ts";
import type { Scenario } from "../scenario.ts";

const a = configMap("a", { value: "old" });
const b = configMap("b", { value: "old" });
const held = configMap("b", { value: "old" }, { finalizers: ["example.com/hold"] });
const patches = [patch(a, { data: { value: "new" } }), patch(b, { data: { value: "new" } })];
const before = [bystander, a, b];

const HOUR = 3600;

/** Takes the finalizers off what is being deleted. */
const removeFinalizers: UserAction["does"] = async ({ patch, read }) => {
  const { deletionTimestamp } = (await read(held)).metadata;
  if (deletionTimestamp === undefined) return;
  await patch({ ...held, metadata: { name: "b", finalizers: null } } as never);
};

/** When the controller has seen so often that it is being deleted. */
const whenSeen = (nth: number): UserAction => ({
  when: "after",
  is: ({ purpose }, answer) => purpose === "read-target" && answer?.metadata.deletionTimestamp !== undefined,
  nth,
  does: removeFinalizers,
});

/** Somebody holds the lock of a target; a deletion waits for a finalizer; time runs out. */
export const waits: readonly Scenario[] = [
  {
    name: "a lock that somebody holds, and lets go of",
    outcome: "Committed",
    before: [...before, lock("ConfigMap/b", HOUR)],
    spec: spec(patches),
    userActions: [
      {
        when: "before",
        is: ({ purpose }) => purpose === "read-lock",
        nth: 2,
        does: ({ remove }) => remove(lock("ConfigMap/b", HOUR)),
      },
    ],
  },
  {
    name: "a lock that somebody has left behind, and that expires",
    outcome: "Committed",
    before: [...before, lock("ConfigMap/b", 1)],
    spec: spec(patches),
  },
  {
    name: "a lock that somebody holds until the time is over",
    outcome: "Failed",
    before: [...before, lock("ConfigMap/b", HOUR)],
    spec: spec(patches, { timeout: "2s" }),
  },
  {
    name: "a deletion that finalizers hold up until the time is over",
    outcome: "RolledBack",
    // Time may run out before anything is in.
    orElse: ["Failed"],
    before: [bystander, a, held],
    spec: spec([patch(a, { data: { value: "new" } }), deletion(held)], { timeout: "15s" }),
    userActions: [onPhase("RollingBack", removeFinalizers)],
  },
  {
    name: "a deletion that a finalizer holds up for a while",
    outcome: "Committed",
    before: [bystander, a, held],
    spec: spec([deletion(held), creation(configMap("c", { made: "yes" }))]),
    userActions: [whenSeen(2)],
  },
  {
    name: "finalizers hold up what is to be replaced until the time is over",
    outcome: "RolledBack",
    // Time may run out before anything is in.
    orElse: ["Failed"],
    before: [bystander, a, held],
    spec: spec([patch(a, { data: { value: "new" } }), replacement(b)], { timeout: "15s" }),
    userActions: [onPhase("RollingBack", removeFinalizers)],
  },
  {
    name: "a finalizer holds up what is to be replaced for a while",
    outcome: "Committed",
    before: [bystander, a, held],
    spec: spec([replacement(configMap("b", { value: "new" })), creation(configMap("c", { made: "yes" }))]),
    userActions: [whenSeen(2)],
  },
  {
    name: "a finalizer that somebody puts on what was created, until it is taken off",
    outcome: "RolledBack",
    before: [bystander],
    spec: spec([creation(configMap("b", { made: "yes" })), refusedCreation]),
    userActions: [
      onPhase("RollingBack", async ({ patch }) => {
        await patch({ ...held, metadata: { name: "b", finalizers: ["example.com/hold"] } } as never);
      }),
      whenSeen(1),
    ],
  },
];
