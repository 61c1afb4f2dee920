// The policy on Blueprints: it says when one is written what the controller would say when it is used.
import { functionNames, functionOf } from "@janus/blueprints";
import { expect, it } from "vitest";
import type { BlueprintAction } from "../../packages/blueprints/src/api/blueprint.ts";
import { actionProblems } from "../../packages/blueprints/src/core/action-problems.ts";
import { guarded, task, told } from "./guarded-namespace.ts";
import { blueprint } from "./objects.ts";

/** What the controller says of the functions and the names of arguments. */
const ofController = (actions: Readonly<Record<string, BlueprintAction>>): readonly string[] =>
  Object.entries(actions)
    .flatMap(([name, action]) => actionProblems(action).map((problem) => `action ${name}, ${problem}`))
    .filter((problem) => /required arg missing|is not supported by|does not exist/u.test(problem));

/** Both add to it which functions there are, or which was probably meant. */
const withoutHint = (problem: string): string => problem.replace(/(?<=does not exist).*/u, "");

type Actions = Readonly<Record<string, BlueprintAction>>;

const CASES: Readonly<Record<string, Actions>> = {
  ...Object.fromEntries(
    functionNames.map((func): [string, Actions] => {
      const known = Object.fromEntries(Object.keys(functionOf(func)?.args ?? {}).map((arg) => [arg, "a"]));
      return [
        func.toLowerCase(),
        {
          all: { phases: [{ func, name: "given", args: known }] },
          none: { phases: [{ func, name: "bare" }] },
          more: { phases: [{ func, name: "more", args: { ...known, imgae: "a" } }] },
        },
      ];
    }),
  ),
  misspelt: { backup: { phases: [{ func: "KubeTsk", name: "dump", args: { a: "b" } }] } },
  nameless: { backup: { phases: [{}] } },
  deferred: { backup: { phases: [], deferPhase: { func: "KubeTask", name: "last", args: { image: "a" } } } },
  nulls: { backup: { phases: [{ func: "KubeTask", name: "dump", args: { image: null, command: null } }] } },
  fine: { backup: { phases: [task("dump")] }, restore: { phases: [task("dump")], deferPhase: task("clean") } },
  // Only the controller sees these.
  template: { backup: { phases: [task("dump", { namespace: "{{ .Object" })] } },
  same: { backup: { phases: [task("dump"), task("dump")] } },
  empty: {},
};

it("says of every function what the controller says, with the same words", async () => {
  const namespace = await guarded();
  const said = await told(namespace, ...Object.entries(CASES).map(([name, actions]) => blueprint(name, actions)));
  const bySide = Object.entries(CASES).map(([name, actions]) => ({
    name,
    policy: (said[name] ?? "").split("; ").filter(Boolean).map(withoutHint).toSorted(),
    controller: ofController(actions).map(withoutHint).toSorted(),
  }));
  expect(bySide.map(({ name, policy }) => [name, policy])).toEqual(
    bySide.map(({ name, controller }) => [name, controller]),
  );
  expect(said["misspelt"]).toContain(`(there is ${functionNames.join(", ")})`);
});
