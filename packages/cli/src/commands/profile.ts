// The command profile: checks Profiles. Needs no cluster.
import { profileProblems } from "@janus/blueprints/authoring";
import { Command } from "commander";
import { kanisterManifests } from "../manifests/kanister-manifests.ts";
import { printable } from "../output/printable.ts";
import { outputTo, painter } from "../output/style.ts";
import { exitWith } from "./exit-with.ts";

const validate = async (files: readonly string[]): Promise<number> => {
  const output = outputTo(process.stdout);
  const paint = painter(output);
  let isRefused = false;
  for (const { manifest, where } of await kanisterManifests(files, "Profile")) {
    const problems = printable(profileProblems(manifest));
    output.write(`Profile ${manifest.metadata.name} (${where}): ${problems.length === 0 ? "valid" : "not valid"}\n`);
    for (const one of problems) output.write(`  ${paint("red", "error:")} ${one}\n`);
    isRefused ||= problems.length > 0;
  }
  return isRefused ? 1 : 0;
};

export const profileCommand = new Command("profile").helpCommand(false).addCommand(
  new Command("validate")
    .description("say which fields of Profiles are missing or wrong; nothing is asked of the store")
    .argument("<files...>", "files, directories, URLs, or - for the standard input")
    .addHelpText("after", "\nExit codes: 0 nothing is wrong, 1 something is, or an error.")
    .action((files: readonly string[]) => exitWith(validate(files))),
);
