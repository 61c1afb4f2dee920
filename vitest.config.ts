import { defineConfig } from "vitest/config";

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

export default defineConfig({
  // Workspace packages run from source, as they do under `node --conditions=source`.
  ssr: { resolve: { conditions: ["source", "module", "node"] } },
  test: {
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 40_000, interval: 25 } },
    reporters: ["verbose"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["tests/unit/**/*.test.ts"],
          exclude: LONGER,
          // Pure: the files have nothing to hide from each other, and need not load everything anew.
          isolate: false,
        },
      },
      { extends: true, test: { name: "longer", include: LONGER, testTimeout: 600_000 } },
      {
        extends: true,
        test: {
          name: "cluster",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/unit/**", ...LONGER, ...EXHAUSTIVE, "**/node_modules/**"],
          globalSetup: ["tests/control-plane/global-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          // A few crashes in some of the scenarios; "exhaustive" has all scenarios, and more crashes.
          name: "sample",
          include: ["tests/crash/crash.test.ts"],
          env: { JANUS_CRASH_SHARE: "60", JANUS_CRASH_SCENARIOS: "3" },
          globalSetup: ["tests/control-plane/global-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "exhaustive",
          include: EXHAUSTIVE,
          globalSetup: ["tests/control-plane/global-setup.ts"],
        },
      },
    ],
  },
});
