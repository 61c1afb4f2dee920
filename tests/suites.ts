import { matchesGlob } from "node:path";

/** These need no cluster either, but more than a moment: every schedule of a model, sockets, processes, a build with Go. */
export const LONGER = [
  "tests/unit/model/explore*.test.ts",
  "tests/unit/blueprints/model.test.ts",
  "tests/unit/blueprints/atomic-model.test.ts",
  "tests/unit/kube/client.test.ts",
  "tests/unit/kube/watch.test.ts",
  "tests/unit/shell/leader-flags.test.ts",
  "tests/gates/kstatus.test.ts",
  "tests/gates/json-path.test.ts",
  "tests/yaml/differential.test.ts",
  "tests/templates/differential.test.ts",
  // Real git: servers, disks and processes that fail; that a push loses nothing is in push.test.ts.
  ...["branch", "crash", "hostile", "https", "large-commit", "push-deeper", "sops", "ssh", "trouble"].map(
    (suite) => `tests/git-journal/${suite}.test.ts`,
  ),
  // Installs what is published into empty projects.
  "tests/pack/pack.test.ts",
];

/** Of the Git journal, these need no control plane, and no more than a moment. */
export const GIT_ALONE = ["git", "push", "work-directory", "webhook-server"].map(
  (suite) => `tests/git-journal/${suite}.test.ts`,
);

/** Suites on the control plane that try everything, or for long; `npm run test:exhaustive` runs them, and those above. */
export const EXHAUSTIVE = [
  ...["crash", "trouble", "answers", "tenants", "load"].map((suite) => `tests/${suite}/**/*.test.ts`),
  "tests/blueprints/crash.test.ts",
  "tests/blueprints/kube-exec-crash.test.ts",
  "tests/blueprints/recipes-crash.test.ts",
  "tests/blueprints/atomic-crash.test.ts",
  "tests/git-journal/mirror-crash.test.ts",
  "tests/git-journal/two-writers.test.ts",
  // A control plane of its own, since there is one definition in each.
  "tests/blueprints/status-subresource.test.ts",
  // These take restic, and an S3 server.
  "tests/blueprints/data.test.ts",
  "tests/blueprints/data-crash.test.ts",
  "tests/blueprints/trouble.test.ts",
  // What the chart installs, by Helm itself, which has to be built with Go.
  "tests/deploy/helm-template.test.ts",
  // These wait for controllers that are deployed on a control plane of their own, and updated, drained and killed there.
  "tests/deploy/helm-install.test.ts",
  "tests/deploy/readiness.test.ts",
  "tests/deploy/git-journal-readiness.test.ts",
  // Pages whose commands need control planes of their own, take one down, or take over what Helm has installed.
  "tests/docs/approval.test.ts",
  "tests/docs/tools.test.ts",
  "tests/docs/etcd-restore.test.ts",
  "tests/docs/from-helm.test.ts",
  "tests/docs/from-gitops-reverser.test.ts",
  // sops and age have to be built with Go.
  "tests/docs/git-secrets.test.ts",
  // Real rollouts take their time, and kwok has to be built with Go.
  "tests/gates/rollouts.test.ts",
  // What Flux and Argo CD see, by their own code, which has to be built with Go.
  "tests/integrations/**/*.test.ts",
];

/** Suites on the control plane that wait long for time to pass, or go further into what another suite of `npm test` shows. */
export const DEEPER = [
  "tests/api/git-journal-digest-key.test.ts",
  "tests/api/git-journal-files.test.ts",
  "tests/api/git-journal-kinds.test.ts",
  "tests/git-journal/configuration.test.ts",
  "tests/git-journal/permissions.test.ts",
  "tests/e2e/admission.test.ts",
  "tests/e2e/content-from.test.ts",
  "tests/e2e/contents.test.ts",
  "tests/e2e/created-objects.test.ts",
  "tests/e2e/denied.test.ts",
  "tests/e2e/earlier-applies.test.ts",
  "tests/e2e/fence.test.ts",
  "tests/e2e/health.test.ts",
  "tests/e2e/irreversible.test.ts",
  "tests/e2e/later-version.test.ts",
  "tests/e2e/nesting.test.ts",
  "tests/e2e/not-found.test.ts",
  "tests/e2e/owners.test.ts",
  "tests/e2e/permissions.test.ts",
  "tests/e2e/prior-storage.test.ts",
  "tests/e2e/process.test.ts",
  "tests/e2e/replace-races.test.ts",
  "tests/e2e/unreadable.test.ts",
  "tests/e2e/wait-at-end.test.ts",
  "tests/git-journal/authors-under-load.test.ts",
  "tests/git-journal/mirror-authors.test.ts",
  "tests/git-journal/members.test.ts",
  "tests/git-journal/mirror-deeper.test.ts",
  "tests/git-journal/neighbours.test.ts",
  "tests/git-journal/process.test.ts",
  "tests/blueprints/atomic-deeper.test.ts",
  "tests/blueprints/attacks.test.ts",
  "tests/blueprints/bounds.test.ts",
  "tests/blueprints/changed-secret.test.ts",
  "tests/blueprints/command-line.test.ts",
  "tests/blueprints/function-permissions.test.ts",
  "tests/blueprints/installed.test.ts",
  "tests/blueprints/job-pods.test.ts",
  "tests/blueprints/kube-exec-deeper.test.ts",
  "tests/blueprints/leaks.test.ts",
  "tests/blueprints/odd-input.test.ts",
  "tests/blueprints/rotated-log.test.ts",
  "tests/blueprints/validation-limits.test.ts",
  "tests/cli/approval.test.ts",
  "tests/cli/completion.test.ts",
  "tests/cli/contents.test.ts",
  "tests/cli/files.test.ts",
  "tests/cli/four-eyes.test.ts",
  "tests/cli/from-git-deeper.test.ts",
  "tests/cli/from-git-journal.test.ts",
  "tests/cli/from-git-kinds.test.ts",
  "tests/cli/front.test.ts",
  "tests/cli/history.test.ts",
  "tests/cli/order.test.ts",
  "tests/cli/output.test.ts",
  "tests/cli/snapshot.test.ts",
  "tests/control-plane/life.test.ts",
  "tests/deploy/approval-attacks.test.ts",
  "tests/deploy/narrowed.test.ts",
  "tests/docs/getting-started.test.ts",
  "tests/deploy/git-journal-authors.test.ts",
  "tests/docs/blueprints.test.ts",
  "tests/docs/git-journal.test.ts",
  "tests/git-journal/installed.test.ts",
  "tests/docs/git-revert.test.ts",
  "tests/blueprints/kanctl.test.ts",
  "tests/examples/cdk8s.test.ts",
  "tests/examples/own-controller.test.ts",
  "tests/git-journal/webhook-deeper.test.ts",
  "tests/kube/leader.test.ts",
  "tests/restore/folded.test.ts",
  "tests/restore/others.property.test.ts",
  "tests/restore/two-owners.test.ts",
  "tests/testing/agreement.test.ts",
];

/** Of the suites above, a few cases of each: `npm test` runs these, and the promises that no other suite proves. */
export const SAMPLED = [
  "tests/crash/crash.test.ts",
  "tests/crash/pairs.test.ts",
  "tests/blueprints/crash.test.ts",
  "tests/answers/answers.test.ts",
  "tests/tenants/noisy.test.ts",
  "tests/load/load.test.ts",
  "tests/unit/model/explore.test.ts",
  "tests/unit/model/explore-answers.test.ts",
  "tests/trouble/vanished.test.ts",
  "tests/docs/etcd-restore.test.ts",
];

/** Whether `npm run test:exhaustive` runs this file. */
export const isOfExhaustive = (file: string): boolean =>
  [...EXHAUSTIVE, ...LONGER, ...DEEPER].some((suite) => matchesGlob(file, suite));

/** Whether `npm test` runs this file, or a few cases of it. */
export const isOfNpmTest = (file: string): boolean => SAMPLED.includes(file) || !isOfExhaustive(file);
