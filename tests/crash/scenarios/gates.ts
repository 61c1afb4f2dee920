// Scenarios in which targets are waited for after their changes.
import type { JsonObject } from "@janus/api";
import { bystander, configMap, creation, patch, refusedCreation, spec, update } from "../objects.ts";
import type { Scenario } from "../scenario.ts";

const a = configMap("a", { value: "old" });
const b = configMap("b", { value: "old" });
const c = configMap("c", { made: "yes" });
const before = [bystander, a, b];
const patches = [patch(a, { data: { value: "new" } }), patch(b, { data: { value: "new" } })] as const;

const never = ["jsonpath={.data.never}"];
const gated = (change: JsonObject, waitFor: readonly string[], more: JsonObject = {}): JsonObject => ({
  ...change,
  waitFor,
  ...more,
});

/** All changes are in, and what the other client has added stays. */
const hasNewValues: NonNullable<Scenario["check"]> = ({ after }) =>
  [
    [after.get("ConfigMap/a"), { value: "new" }] as const,
    [after.get("ConfigMap/b"), { value: "new" }] as const,
    [after.get("ConfigMap/c"), { made: "yes" }] as const,
  ].flatMap(([object, data]) =>
    JSON.stringify(object?.["data"]) === JSON.stringify(data)
      ? []
      : [`Committed, but a target has ${JSON.stringify(object?.["data"])}, not ${JSON.stringify(data)}`],
  );

/** A change is applied, and its target is waited for: it gets there at once, later, or not in time. */
export const gates: readonly Scenario[] = [
  {
    name: "gates that are met at once, that of the last change, too",
    outcome: "Committed",
    before,
    spec: spec([...patches], { waitFor: ["jsonpath={.data.value}=new"] }),
  },
  {
    name: "a gate that another client meets after a while",
    outcome: "Committed",
    before,
    spec: spec([gated(patches[0], ["jsonpath={.metadata.labels.ready}=yes"]), patches[1], creation(c)]),
    userActions: [
      {
        when: "after",
        is: ({ purpose }) => purpose === "checkpoint",
        does: async ({ patch }) => {
          await patch({ ...a, metadata: { name: "a", labels: { ready: "yes" } }, data: {} } as never);
        },
      },
    ],
    check: hasNewValues,
  },
  {
    name: "a gate that is not met in time",
    outcome: "RolledBack",
    before,
    spec: spec([patches[0], gated(patches[1], never, { waitTimeout: "2s" }), creation(c)]),
  },
  {
    name: "gates at the end, which another client meets after a while",
    outcome: "Committed",
    before,
    spec: spec(
      [
        gated(patches[0], ["jsonpath={.metadata.labels.ready}=yes"]),
        gated(update({ ...b, data: { value: "new" } }), ["jsonpath={.data.value}=new"]),
        creation(c),
      ],
      { waitAt: "End" },
    ),
    userActions: [
      {
        when: "after",
        is: ({ purpose }) => purpose === "checkpoint",
        does: async ({ patch }) => {
          await patch({ ...a, metadata: { name: "a", labels: { ready: "yes" } }, data: {} } as never);
        },
      },
    ],
    check: hasNewValues,
  },
  {
    name: "gates at the end that are not met in time",
    outcome: "RolledBack",
    before,
    spec: spec([gated(patches[0], never, { waitTimeout: "2s" }), gated(patches[1], ["create"]), creation(c)], {
      waitAt: "End",
    }),
  },
  {
    name: "restored targets that do not get healthy in time",
    outcome: "RolledBack",
    before,
    spec: spec([patches[0], refusedCreation], { rollbackWaitFor: never, rollbackWaitTimeout: "1s" }),
  },
];
