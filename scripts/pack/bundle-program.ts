// Bundles a program into one file.
import { chmodSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";
import { asModules } from "./as-modules.ts";
import { lateNames } from "./late-names.ts";

/**
 * Writes a program as one file that needs nothing but Node.
 *
 * @returns the files that it was made of.
 */
export const bundleProgram = async (source: string, to: string): Promise<readonly string[]> => {
  const bundle = await rolldown({
    input: source,
    external: /^node:/u,
    platform: "node",
    resolve: { conditionNames: ["source", "import", "default"], mainFields: ["module", "main"] },
    plugins: [asModules, lateNames],
    transform: { target: "node22" },
    // V8 would compile every module at the start, also those of commands that are not called.
    optimization: { pifeForModuleWrappers: false },
    // Nothing that is bundled is imported for its side effects alone.
    treeshake: { moduleSideEffects: false },
  });
  const { output } = await bundle.write({
    dir: path.dirname(to),
    entryFileNames: path.basename(to),
    format: "esm",
    codeSplitting: false,
    // What a dynamic import loads is not run before.
    strictExecutionOrder: true,
    // With its lines: Node prints the one in which an error was thrown.
    minify: { compress: true, mangle: true, codegen: { removeWhitespace: false } },
  });
  await bundle.close();
  chmodSync(to, 0o755);
  return output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
};
