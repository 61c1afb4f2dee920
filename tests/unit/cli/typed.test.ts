import { isRight } from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { Gates } from "../../../packages/api/src/gates.ts";
import { GATES } from "../../../packages/cli/src/completion/candidates.ts";
import { completed } from "../../../packages/cli/src/completion/complete.ts";
import { typedOf } from "../../../packages/cli/src/completion/typed.ts";
import { wholeProgram } from "../../../packages/cli/src/program.ts";

/** What is typed; `|` is where the cursor is, after the beginning of a word or a space. */
const typed = async (line: string) => {
  const { command, args, flags, wanted, prefix } = typedOf(await wholeProgram(), line.split(" "));
  const of = "of" in wanted ? ("long" in wanted.of ? wanted.of.long : wanted.of.name()) : undefined;
  return { command: command.name(), args, flags, wanted: of ?? wanted.type, prefix };
};

it.each([
  ["", { command: "kubectl janus", wanted: "command", prefix: "" }],
  ["app", { command: "kubectl janus", wanted: "command", prefix: "app" }],
  ["approve ", { command: "approve", wanted: "name", prefix: "" }],
  ["approve v2 ", { command: "approve", args: ["v2"], wanted: "nothing" }],
  ["get v1 v2 v", { command: "get", args: ["v1", "v2"], wanted: "names", prefix: "v" }],
  ["-n shop get ", { command: "get", flags: { namespace: "shop" }, wanted: "names" }],
  ["get -n", { command: "get", wanted: "flag", prefix: "-n" }],
  ["get -n ", { command: "get", wanted: "--namespace", prefix: "" }],
  ["get --namespace=sh", { command: "get", wanted: "--namespace", prefix: "sh" }],
  ["get --namespace=shop ", { command: "get", flags: { namespace: "shop" }, wanted: "names" }],
  ["apply -f shop/ --wait-for condition=A", { command: "apply", wanted: "--wait-for", prefix: "condition=A" }],
  ["apply -R -f ", { command: "apply", wanted: "--filename" }],
  ["snapshot ", { command: "snapshot", wanted: "command" }],
  ["snapshot show v2 ", { command: "show", args: ["v2"], wanted: "target" }],
  ["history watch ", { command: "history", args: ["watch"], wanted: "target-name" }],
  ["version --frobnicate ", { command: "version", wanted: "nothing" }],
  ["plan --from-git HEAD ", { command: "plan", wanted: "path" }],
])("knows what comes next after: %s", async (line, expected) => {
  expect(await typed(line)).toMatchObject(expected);
});

it.each([
  ["apply -f ", ":0\n"],
  ["get --kubeconfig=/t", ":0\n"],
  ["get --phase Rol", "RollingBack\t\nRolledBack\t\n:4\n"],
  ["apply --wait-for con", "condition=Available\t\ncondition=Complete\t\ncondition=Ready\t\n:4\n"],
  ["get -o cus", "custom-columns=\t\n:4\n"],
  ["completion z", "zsh\t\n:4\n"],
  ["snapshot re", "restore\trestore the former state, in a new Transaction\n:4\n"],
  ["approve --ye", expect.stringMatching(/^--yes\t.+\n:4\n$/u)],
  ["get --context ", ":4\n"],
])("completes without a cluster: %s", async (line, expected) => {
  const { KUBECONFIG: former } = process.env;
  process.env["KUBECONFIG"] = "/nowhere";
  try {
    expect(await completed(await wholeProgram(), line.split(" "))).toEqual(expected);
  } finally {
    if (former === undefined) delete process.env["KUBECONFIG"];
    else process.env["KUBECONFIG"] = former;
  }
});

it("completes gates that a Transaction takes", () => {
  expect(GATES.filter((gate) => !isRight(Gates.decode([gate])))).toEqual([]);
});
