import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import path from "node:path";

/** Copies what a container engine would see of a clean checkout: what git knows and new files, without what `.dockerignore` names. */
export const copyBuildContext = (repository: string, to: string): void => {
  const list = (...options: readonly string[]): readonly string[] =>
    execFileSync("git", ["ls-files", "-z", ...options], { cwd: repository, encoding: "utf8" })
      .split("\0")
      .filter(Boolean);
  const leftOut = "--exclude-from=.dockerignore";
  const named = new Set(list("--cached", "--ignored", leftOut));
  for (const file of [...list("--cached"), ...list("--others", "--exclude-standard", leftOut)]) {
    // git still knows a file whose deletion is not in a commit yet.
    if (!named.has(file) && existsSync(path.join(repository, file))) {
      cpSync(path.join(repository, file), path.join(to, file));
    }
  }
};
