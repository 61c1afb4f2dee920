import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";

/** These need no cluster either, but more than a moment: every schedule of a model, sockets, processes, a build with Go. */
const LONGER = [
  "tests/unit/model/explore*.test.ts",
  "tests/unit/kube/client.test.ts",
  "tests/unit/kube/watch.test.ts",
  "tests/unit/kube/leader-flags.test.ts",
  "tests/gates/kstatus.test.ts",
  "tests/gates/json-path.test.ts",
  // Installs what is published into empty projects.
  "tests/pack/pack.test.ts",
];

/** Suites on the control plane that try everything, or for long; `npm run test:exhaustive` runs them, and those above. */
const EXHAUSTIVE = [
  ...["crash", "trouble", "answers", "tenants", "load"].map((suite) => `tests/${suite}/**/*.test.ts`),
  // These wait for controllers that are deployed on a control plane of their own, and updated, drained and killed there.
  "tests/deploy/helm-install.test.ts",
  "tests/deploy/readiness.test.ts",
  // Pages whose commands take down a control plane of their own, or take over what Helm has installed.
  "tests/docs/etcd-restore.test.ts",
  "tests/docs/from-helm.test.ts",
  "tests/deploy/narrowed.test.ts",
  // Real rollouts take their time, and kwok has to be built with Go.
  "tests/gates/rollouts.test.ts",
  // What Flux and Argo CD see, by their own code, which has to be built with Go.
  "tests/integrations/**/*.test.ts",
];

/** Of the suites above, a few cases of each: `npm test` runs these, and the promises that no other suite proves. */
const SAMPLED = [
  "tests/crash/crash.test.ts",
  "tests/crash/pairs.test.ts",
  "tests/answers/answers.test.ts",
  "tests/tenants/noisy.test.ts",
  "tests/load/load.test.ts",
  "tests/unit/model/explore.test.ts",
  "tests/unit/model/explore-answers.test.ts",
  "tests/trouble/vanished.test.ts",
  "tests/docs/etcd-restore.test.ts",
];

if (process.env["JANUS_SEED"] === undefined) {
  process.env["JANUS_SEED"] = process.env["CI"] === undefined ? `${Date.now() % 1_000_000}` : "11";
  console.log(`The samples of this run are those of JANUS_SEED=${process.env["JANUS_SEED"]}`);
}

/** Those that take minutes. */
const LONGEST = ["crash/crash", "load/memory", "crash/pairs", "load/load", "helm-install", "noisy", "matrix", "demo"];

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

/** More than cores: many tests wait for time to pass. Those that try everything keep the cores busier. */
const BRISK = { maxWorkers: 4, sequence: { groupOrder: 0 } };
const THOROUGH = { maxWorkers: 3, sequence: { groupOrder: 1 } };

export default defineConfig({
  // Workspace packages run from source, as they do under `node --conditions=source`.
  ssr: { resolve: { conditions: ["source", "module", "node"] } },
  test: {
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 40_000, interval: 100 } },
    reporters: ["verbose"],
    projects: [
      {
        extends: true,
        test: {
          ...BRISK,
          name: "unit",
          include: ["tests/unit/**/*.test.ts"],
          exclude: LONGER,
          // Pure: the files have nothing to hide from each other, and need not load everything anew.
          isolate: false,
        },
      },
      { extends: true, test: { ...THOROUGH, name: "longer", include: LONGER, testTimeout: 600_000 } },
      {
        extends: true,
        test: {
          ...BRISK,
          name: "cluster",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/unit/**", ...LONGER, ...EXHAUSTIVE, "**/node_modules/**"],
          globalSetup: ["tests/control-plane/global-setup.ts"],
          // They share a control plane, and the client and installation of their fixtures, too; to load these anew took each file a second.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          ...BRISK,
          name: "sample",
          include: SAMPLED,
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
});
