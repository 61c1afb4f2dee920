// Makes the bundler use the ECMAScript modules of fp-ts and io-ts.
import type { Plugin } from "rolldown";

/** fp-ts and io-ts have ECMAScript modules as well, of which only what is used is bundled. */
export const asModules: Plugin = {
  name: "as-modules",
  resolveId: {
    filter: { id: /^(?:fp|io)-ts\/lib\// },
    handler(id, importer) {
      return this.resolve(id.replace("/lib/", "/es6/"), importer);
    },
  },
};
