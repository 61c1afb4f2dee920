// Bundles the code and the types of a published package.
import { copyFileSync } from "node:fs";
import path from "node:path";
import { type ExternalOption, type Plugin, rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { asModules } from "./as-modules.ts";
import { externalsOf, type PublishedPackage } from "./published-package.ts";

/** tsc leaves the names of our sources in declarations, where rolldown looks for files of that name. */
const asDeclarations: Plugin = {
  name: "as-declarations",
  transform: {
    order: "pre",
    filter: { id: /\.d\.ts$/ },
    handler: (code) => code.replaceAll(/(from "\.[^"]*)\.ts"/gu, '$1.js"'),
  },
};

/** @returns the files that were bundled. */
const bundleCode = async (from: PublishedPackage, external: ExternalOption, to: string): Promise<readonly string[]> => {
  const bundle = await rolldown({
    input: { index: path.join(from.directory, "src/index.ts") },
    external,
    platform: "node",
    resolve: { conditionNames: ["source", "import", "default"], mainFields: ["module", "main"] },
    plugins: [asModules],
    transform: { target: "node20" },
  });
  const { output } = await bundle.write({ dir: to, format: "esm", entryFileNames: "[name].js" });
  await bundle.write({ dir: to, format: "cjs", entryFileNames: "[name].cjs" });
  await bundle.close();
  return output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
};

/** Bundles what `tsc -b` has written. */
const bundleTypes = async (from: PublishedPackage, external: ExternalOption, to: string): Promise<void> => {
  const bundle = await rolldown({
    input: { index: path.join(from.directory, "dist/index.d.ts") },
    external,
    plugins: [asDeclarations, dts({ dtsInput: true, generator: "oxc", tsconfig: false })],
  });
  await bundle.write({ dir: to, format: "esm" });
  await bundle.close();
  // The same types, for those who `require` it.
  copyFileSync(path.join(to, "index.d.ts"), path.join(to, "index.d.cts"));
};

/**
 * Writes `index.js`, `index.cjs` and their types, with everything in them that the user does not install.
 *
 * @returns the files of which the code was made.
 */
export const bundle = async (from: PublishedPackage, to: string): Promise<readonly string[]> => {
  const installed = externalsOf(from).map((name) => new RegExp(`^${name}(?:/|$)`, "u"));
  const external = [/^node:/u, ...installed];
  // No type of these may be left in ours; if one is, it is seen as an import that nobody can resolve.
  await bundleTypes(from, [...external, /^(?:fp|io)-ts/u], to);
  return bundleCode(from, external, to);
};
