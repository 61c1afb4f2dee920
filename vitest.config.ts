import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import { DEEPER, EXHAUSTIVE, GIT_ALONE, LONGER, SAMPLED } from "./tests/suites.ts";

/** Of `npm test` and of CI: a commit that passes once passes again. */
const FIXED_SEED = "11";

/** `npm run test:exhaustive` and `npm run explore` look further each time, except in CI. */
const seedOf = (mode: string): string =>
  mode === "exhaustive" && process.env["CI"] === undefined ? `${Date.now() % 1_000_000}` : FIXED_SEED;

/**
 * Those that take longest, the longest first. Before the shorter ones those that only wait; among the last those whose
 * programs `.ci/run` builds meanwhile.
 */
const LONGEST = [
  "memory-wide",
  "crash/crash",
  "load/load",
  "answers/answers",
  "memory-large",
  "helm-install",
  "noisy",
  "matrix",
  "recipes",
  "blueprints/trouble",
  "load/memory",
  "lasting",
  "rollouts",
  "explore-further",
  "memory-waiting",
  "crash/pairs",
  "trouble/locks",
  "etcd-restore",
  "readiness",
  "trouble/waiting",
  "from-helm",
  "argo-cd",
  "narrowed",
  "created-objects",
  "demo",
];

const rank = (file: string): number => {
  const at = LONGEST.findIndex((name) => file.endsWith(`${name}.test.ts`));
  return at < 0 ? LONGEST.length : at;
};

/** On a fresh clone nothing is known of how long a file took: a long one that is begun last runs alone in the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer["sort"]>[0]) {
    // oxlint-disable-next-line unicorn/no-array-sort -- the one of the sequencer, not of an array
    const others = await super.sort(files);
    return others.toSorted((a, b) => rank(a.moduleId) - rank(b.moduleId));
  }
}

/** `.ci/run` needs none: it runs these suites right afterwards, with all that the samples are of. */
const HAS_SAMPLE = process.env["JANUS_SAMPLE"] !== "none";

/** More than cores: many tests wait for time to pass. Those that try everything keep the cores busier. */
const BRISK = { maxWorkers: 8, sequence: { groupOrder: 0 } };
const THOROUGH = { maxWorkers: 4, sequence: { groupOrder: 1 } };

/** They share a control plane, and the client and installation of their fixtures, too; to load these anew took each file a second. */
const SHARED = { ...BRISK, globalSetup: ["tests/control-plane/global-setup.ts"], isolate: false };

export default defineConfig(({ mode }) => {
  process.env["JANUS_SEED"] ??= seedOf(mode);
  console.log(`The samples and properties of this run are those of JANUS_SEED=${process.env["JANUS_SEED"]}`);
  return {
    // Workspace packages run from source, as they do under `node --conditions=source`.
    ssr: { resolve: { conditions: ["source", "module", "node"] } },
    test: {
      sequence: { sequencer: LongestFirst },
      // For what hangs: what takes a second on an idle machine has taken a minute on a shared one.
      testTimeout: 600_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 300_000, interval: 100 } },
      // What CI keeps of a failure is its message: a list of what is wrong in full, not "[ Array(1) ]".
      chaiConfig: { truncateThreshold: 4_000 },
      reporters: ["verbose"],
      setupFiles: ["tests/fixtures/seeded.ts"],
      projects: [
        {
          extends: true,
          test: {
            ...BRISK,
            name: "unit",
            include: ["tests/unit/**/*.test.ts", ...GIT_ALONE, "examples/own-controller/*.test.ts"],
            exclude: LONGER,
            // Pure: the files have nothing to hide from each other, and need not load everything anew.
            isolate: false,
          },
        },
        { extends: true, test: { ...THOROUGH, name: "longer", include: LONGER } },
        {
          extends: true,
          test: {
            ...SHARED,
            name: "cluster",
            include: ["tests/**/*.test.ts"],
            exclude: ["tests/unit/**", ...GIT_ALONE, ...LONGER, ...EXHAUSTIVE, ...DEEPER, "**/node_modules/**"],
          },
        },
        { extends: true, test: { ...SHARED, name: "deeper", include: DEEPER } },
        {
          extends: true,
          test: {
            ...BRISK,
            name: "sample",
            include: HAS_SAMPLE ? SAMPLED : [],
            globalSetup: ["tests/control-plane/global-setup.ts"],
            env: { JANUS_SAMPLE: "brief" },
          },
        },
        {
          extends: true,
          test: {
            ...THOROUGH,
            name: "exhaustive",
            include: EXHAUSTIVE,
            globalSetup: ["tests/control-plane/global-setup.ts"],
          },
        },
      ],
    },
  };
});
