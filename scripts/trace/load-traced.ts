// Makes Node load the traced modules instead of those of the core.
import { registerHooks } from "node:module";

/** The module that stands in for each one of the core. */
const TRACED: Readonly<Record<string, string>> = {
  "state/effect.ts": "traced-effect.ts",
  "state/journal-requests.ts": "traced-journal-requests.ts",
  "state/status-update.ts": "traced-status-update.ts",
  "undo/undo-context.ts": "traced-undo-context.ts",
};
const core = new URL("../../packages/controller/src/core/", import.meta.url).href;
const here = new URL(".", import.meta.url).href;

/** Call it before anything loads the core. */
export const loadTraced = (): void => {
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const traced = resolved.url.startsWith(core) ? TRACED[resolved.url.slice(core.length)] : undefined;
      // A traced module itself needs the one that it stands in for.
      return traced === undefined || context.parentURL?.startsWith(here) === true
        ? resolved
        : { ...resolved, url: new URL(traced, here).href };
    },
  });
};
