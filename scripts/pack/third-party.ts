import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The directory of the installed package that a file is in; undefined if it is one of ours. */
const packageOf = (file: string): string | undefined =>
  /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/u.exec(file.replace(/^\0/u, ""))?.[0];

/** The licenses of all packages that are bundled, which have to go along with their code. */
export const thirdPartyLicenses = (files: readonly string[]): string => {
  const packages = [...new Set(files.flatMap((file) => packageOf(file) ?? []))].toSorted();
  return packages
    .filter((directory) => existsSync(path.join(directory, "package.json")))
    .map((directory) => {
      const { name, version } = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as {
        readonly name: string;
        readonly version: string;
      };
      const license = readdirSync(directory).find((file) => /^licen[cs]e/iu.test(file));
      if (license === undefined) throw new Error(`${name} has no license file, and would be bundled`);
      return `${name} ${version}\n\n${readFileSync(path.join(directory, license), "utf8").trim()}\n`;
    })
    .join("\n---\n\n");
};
