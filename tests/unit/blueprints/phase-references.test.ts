// Tests which references to phases are refused before anything runs.
import { expect, it } from "vitest";
import { referenceProblems } from "../../../packages/blueprints/src/core/phase-references.ts";

const phase = (name: string, command: string) => ({ func: "KubeTask", name, args: { command: ["sh", "-c", command] } });
const output = (name: string): string => `{{ .Phases.${name}.Output.id }}`;

it("a phase may name itself and those before it, the deferPhase and artifacts all", () => {
  const phases = [phase("a", output("a")), phase("b", `text .Phases.none ${output("a")}`)];
  const outputArtifacts = { x: { keyValue: { id: output("b") } } };
  expect(referenceProblems({ phases, deferPhase: phase("end", output("b")), outputArtifacts })).toEqual([]);
});

it("a later phase, and one that there is not, are refused by their path", () => {
  const phases = [phase("a", output("b")), phase("b", "true")];
  const outputArtifacts = { x: { keyValue: { id: output("nope") } } };
  expect(referenceProblems({ phases, outputArtifacts })).toEqual([
    'phase a: args.command[2]: no phase before it is called "b"',
    'outputArtifacts.x.keyValue.id: no phase before it is called "nope"',
  ]);
});
