import { expect, it } from "vitest";
import { completed } from "../../../packages/cli/src/completion/complete.ts";
import { programFor, wholeProgram } from "../../../packages/cli/src/program.ts";

it.each([
  ["plan", "--dry-run"],
  ["plan", "--dry-run=server"],
  ["apply", "--dry-run=client"],
  ["apply", "--dry-run=server"],
])("says of %s %s which command does that", async (name, flag) => {
  const janus = await programFor(name);
  const said: string[] = [];
  for (const command of janus.commands)
    command
      .exitOverride((error) => {
        throw error;
      })
      .configureOutput({ writeErr: (text) => said.push(text) });
  await expect(janus.parseAsync([name, flag, "-f", "-"], { from: "user" })).rejects.toThrow("there is no --dry-run");
  expect(said.join("")).toBe(
    "error: there is no --dry-run: kubectl janus plan shows what apply would do, by dry runs on the server\n",
  );
});

it("does not offer a flag that it refuses", async () => {
  const program = await wholeProgram();
  expect(await completed(program, ["apply", "--d"])).not.toContain("--dry-run");
  const others = program.commands.filter((command) => command.name() !== "run");
  expect(others.map((command) => command.helpInformation()).join("\n")).not.toContain("--dry-run");
});

it("completes a clone and a path in it as files", async () => {
  const program = await wholeProgram();
  for (const typed of [
    ["--repo", ""],
    ["--from-git", "HEAD", ""],
  ])
    expect(await completed(program, ["plan", ...typed])).toBe(":0\n");
});
