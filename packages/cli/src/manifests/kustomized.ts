// Reads the output of kubectl kustomize as a source of manifests.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { asObject } from "@janus/types";
import { reasonOf } from "@janus/kube";
import { Failure } from "../failure.ts";
import type { Source } from "./sources.ts";

const MOST_BYTES = 64 * 1024 * 1024;

/** The source of what `kubectl kustomize` makes of a directory, or of a URL. */
export const kustomized = (directory: string): Source => ({
  name: `kustomization ${directory}`,
  read: async () => {
    try {
      const { stdout } = await promisify(execFile)("kubectl", ["kustomize", "--", directory], {
        encoding: "buffer",
        maxBuffer: MOST_BYTES,
      });
      return stdout;
    } catch (error) {
      const { code, stderr } = asObject(error) as { readonly code?: unknown; readonly stderr?: unknown };
      if (code === "ENOENT")
        throw new Failure(
          `-k needs kubectl in $PATH. Without it: kustomize build ${directory} | kubectl-janus apply -f -`,
        );
      const said =
        stderr instanceof Uint8Array
          ? Buffer.from(stderr)
              .toString()
              .trim()
              .replace(/^error: /u, "")
          : "";
      throw new Failure(`kubectl kustomize ${directory}: ${said === "" ? reasonOf(error) : said}`);
    }
  },
});
