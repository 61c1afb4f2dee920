import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { HELP, parseFlags } from "../../../packages/controller/src/shell/flags.ts";

it("has defaults for everything", () => {
  expect(parseFlags([], {})).toEqual(
    E.right({
      kubeconfig: undefined,
      namespace: "janus-system",
      watchNamespace: undefined,
      concurrency: 16,
      httpPort: 8080,
      readiness: "any",
      metricsAuth: false,
      writeTimeout: 5000,
      requestDeadline: 15_000,
      leaderElection: {
        place: { name: "janus-controller-leader", namespace: "janus-system" },
        timing: { leaseDuration: 30_000, renewDeadline: 20_000, retryPeriod: 5000, writeTimeout: 5000 },
      },
      logLevel: "info",
    }),
  );
});

it("takes the namespace of its Pod for its own", () => {
  expect(parseFlags([], { POD_NAMESPACE: "here" })).toMatchObject(E.right({ namespace: "here" }));
  expect(parseFlags(["--namespace=there"], { POD_NAMESPACE: "here" })).toMatchObject(E.right({ namespace: "there" }));
});

it.each([
  ["--write-timeout=250ms", { writeTimeout: 250 }],
  ["--write-timeout=1.5s", { writeTimeout: 1500 }],
  ["--request-deadline=2m", { requestDeadline: 120_000 }],
  ["--http-port=0", { httpPort: 0 }],
  ["--max-concurrent-reconciles=1000", { concurrency: 1000 }],
  ["--metrics-auth", { metricsAuth: true }],
  ["--metrics-auth=true", { metricsAuth: true }],
  ["--readiness=leader", { readiness: "leader" }],
  ["--watch-namespace=one", { watchNamespace: "one" }],
  ["--log-level=debug", { logLevel: "debug" }],
  ["--leader-elect=false", { leaderElection: undefined }],
  ["--leader-elect-resource-name=mine", { leaderElection: { place: { name: "mine", namespace: "janus-system" } } }],
])("understands %s", (flag, expected) => {
  expect(parseFlags([flag], {})).toMatchObject(E.right(expected));
});

it.each([
  ["--max-concurrent-reconciles=0", "--max-concurrent-reconciles takes a number from 1 to 1000; see --help"],
  ["--max-concurrent-reconciles=many", "--max-concurrent-reconciles takes a number from 1 to 1000; see --help"],
  ["--http-port=65536", "--http-port takes a port number; see --help"],
  ["--metrics-auth=maybe", "--metrics-auth takes true or false; see --help"],
  ["--readiness=standby", "--readiness takes any or leader; see --help"],
  ["--write-timeout=soon", "--write-timeout takes a duration such as 5s; see --help"],
  ["--write-timeout=0s", "--write-timeout takes a duration such as 5s; see --help"],
  ["--request-deadline=15", "--request-deadline takes a duration such as 15s; see --help"],
  ["--write-timeout=15s", "--request-deadline must be longer than --write-timeout; see --help"],
  ["--log-level=loud", "--log-level takes debug, info, warn or error; see --help"],
])("refuses %s, and says what it takes", (flag, text) => {
  expect(parseFlags([flag], {})).toEqual(E.left({ help: false, text: text }));
});

it.each(["--colour", "stray", "--namespace"])("refuses %s, which means nothing", (flag) => {
  expect(parseFlags([flag], {})).toMatchObject(
    E.left({ help: false, text: expect.stringMatching(/; see --help$/) as string }),
  );
});

it("shows every flag in its help", () => {
  expect(parseFlags(["--help"], {})).toEqual(E.left({ help: true, text: HELP }));
  for (const flag of ["kubeconfig", "namespace", "watch-namespace", "max-concurrent-reconciles", "http-port"])
    expect(HELP).toContain(`--${flag} <`);
});
