// Packs what is published, each package with everything that its users need not install.
//
//   npm run -s pack -- [directory]
//
// Prints the paths of the tarballs, which `npm publish` and `npm install` take. Users install `dependencies` and
// `peerDependencies`; `devDependencies` are bundled. A new package needs a README.md, and a program in
// tests/pack/programs.ts.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { bundle } from "./bundle.ts";
import { bundleProgram } from "./bundle-program.ts";
import { manifestOf, type PublishedPackage, publishedPackages } from "./published-package.ts";
import { thirdPartyLicenses } from "./third-party.ts";

const root = path.resolve(import.meta.dirname, "../..");
const destination = path.resolve(process.argv[2] ?? ".");

/** @returns the path of the tarball. */
const pack = async (one: PublishedPackage, staging: string): Promise<string> => {
  const [file] = Object.values(one.bin ?? {});
  const bundled =
    file === undefined
      ? await bundle(one, path.join(staging, "dist"))
      : await bundleProgram(path.join(one.directory, "src/main.ts"), path.join(staging, file));
  for (const script of Object.values(one.bin ?? {}).slice(1)) {
    mkdirSync(path.dirname(path.join(staging, script)), { recursive: true });
    copyFileSync(path.join(one.directory, script), path.join(staging, script));
  }
  writeFileSync(path.join(staging, "package.json"), `${JSON.stringify(manifestOf(one), undefined, 2)}\n`);
  writeFileSync(path.join(staging, "THIRD-PARTY-LICENSES"), thirdPartyLicenses(bundled));
  copyFileSync(path.join(one.directory, "README.md"), path.join(staging, "README.md"));
  copyFileSync(path.join(root, "LICENSE"), path.join(staging, "LICENSE"));
  const args = ["pack", "--silent", "--pack-destination", destination];
  return path.join(destination, execFileSync("npm", args, { cwd: staging, encoding: "utf8" }).trim());
};

execFileSync("tsc", ["-b"], { cwd: root, stdio: ["ignore", 2, 2] });
mkdirSync(destination, { recursive: true });
for (const one of publishedPackages(path.join(root, "packages"))) {
  const staging = mkdtempSync(path.join(os.tmpdir(), "janus-pack-"));
  try {
    console.log(await pack(one, staging));
  } finally {
    rmSync(staging, { recursive: true });
  }
}
