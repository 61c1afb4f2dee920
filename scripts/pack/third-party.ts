// Collects the licenses of bundled packages.
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
      const { name, version, license } = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as {
        readonly name: string;
        readonly version: string;
        readonly license?: string;
      };
      const file = readdirSync(directory).find((file) => /^licen[cs]e/iu.test(file));
      if (file === undefined && license === undefined)
        throw new Error(`${name} does not say under which license it is, and would be bundled`);
      const text = file === undefined ? `License: ${license}` : readFileSync(path.join(directory, file), "utf8").trim();
      return `${name} ${version}\n\n${text}\n`;
    })
    .join("\n---\n\n");
};
