import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { HELP, parseFlags } from "../../../packages/controller/src/shell/flags.ts";

it("has defaults for everything", () => {
  expect(parseFlags([], {})).toEqual(
    E.right({
      kubeconfig: undefined,
      namespace: "janus-system",
      watchNamespaces: undefined,
      concurrency: 16,
      httpPort: 8080,
      readiness: "any",
      metricsAuth: false,
      sensitiveKinds: [],
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
  ["--request-deadline=2147483s", { requestDeadline: 2_147_483_000 }],
  ["--http-port=0", { httpPort: 0 }],
  ["--max-concurrent-reconciles=1000", { concurrency: 1000 }],
  ["--metrics-auth", { metricsAuth: true }],
  ["--metrics-auth=true", { metricsAuth: true }],
  ["--readiness=leader", { readiness: "leader" }],
  [
    "--sensitive-kinds=SealedSecret.bitnami.com,ConfigMap",
    { sensitiveKinds: ["SealedSecret.bitnami.com", "ConfigMap"] },
  ],
  ["--watch-namespace=one", { watchNamespaces: ["one"] }],
  ["--watch-namespace=one,two,one", { watchNamespaces: ["one", "two"] }],
  ["--watch-namespace=*", { watchNamespaces: undefined }],
  ["--log-level=debug", { logLevel: "debug" }],
  ["--request-deadline=1m30s", { requestDeadline: 90_000 }],
  ["--write-timeout=1.5s", { writeTimeout: 1500 }],
  ["--leader-elect=false", { leaderElection: undefined }],
  ["--leader-elect-resource-name=mine", { leaderElection: { place: { name: "mine", namespace: "janus-system" } } }],
])("understands %s", (flag, expected) => {
  expect(parseFlags([flag], {})).toMatchObject(E.right(expected));
});

it.each([
  ["--max-concurrent-reconciles=0", "--max-concurrent-reconciles takes a number from 1 to 1000; see --help"],
  ["--max-concurrent-reconciles=many", "--max-concurrent-reconciles takes a number from 1 to 1000; see --help"],
  [
    "--sensitive-kinds=a secret",
    "--sensitive-kinds takes kinds such as SealedSecret.bitnami.com, separated by commas; see --help",
  ],
  ["--http-port=65536", "--http-port takes a port number; see --help"],
  ["--metrics-auth=maybe", "--metrics-auth takes true or false; see --help"],
  ["--readiness=standby", "--readiness takes any or leader; see --help"],
  ["--http-port=", "--http-port takes a port number; see --help"],
  ["--http-port=0x50", "--http-port takes a port number; see --help"],
  ["--max-concurrent-reconciles=", "--max-concurrent-reconciles takes a number from 1 to 1000; see --help"],
  ["--write-timeout=soon", "--write-timeout takes a duration such as 5s, of at most 2147483s; see --help"],
  ["--write-timeout=0s", "--write-timeout takes a duration such as 5s, of at most 2147483s; see --help"],
  ["--request-deadline=15", "--request-deadline takes a duration such as 15s, of at most 2147483s; see --help"],
  ["--request-deadline=2147484s", "--request-deadline takes a duration such as 15s, of at most 2147483s; see --help"],
  [
    "--leader-elect-lease-duration=2147484s",
    "--leader-elect-lease-duration takes a duration such as 30s, of at most 2147483s; see --help",
  ],
  ["--kubeconfig=", "--kubeconfig takes a file; see --help"],
  ["--write-timeout=15s", "--request-deadline must be longer than --write-timeout; see --help"],
  ["--log-level=loud", "--log-level takes debug, info, warn or error; see --help"],
])("refuses %s, and says what it takes", (flag, text) => {
  expect(parseFlags([flag], {})).toEqual(E.left({ help: false, text: text }));
});

const isNamespace = "takes the name of a namespace; see --help";
const areNamespaces = "--watch-namespace takes names of namespaces, separated by commas, or *; see --help";
const isLease = "--leader-elect-resource-name takes the name of a Lease; see --help";
it.each([
  ["--namespace=", `--namespace (or $POD_NAMESPACE) ${isNamespace}`],
  ["--namespace=a.b", `--namespace (or $POD_NAMESPACE) ${isNamespace}`],
  ["--watch-namespace=", areNamespaces],
  ["--watch-namespace=One", areNamespaces],
  ["--watch-namespace=one,", areNamespaces],
  ["--watch-namespace=one,*", areNamespaces],
  [`--watch-namespace=${"a".repeat(64)}`, areNamespaces],
  ["--leader-elect-resource-namespace=", `--leader-elect-resource-namespace ${isNamespace}`],
  ["--leader-elect-resource-namespace=Foo_", `--leader-elect-resource-namespace ${isNamespace}`],
  ["--leader-elect-resource-name=", isLease],
  ["--leader-elect-resource-name=Foo_Bar", isLease],
  ["--leader-elect-resource-name=a..b", isLease],
  [`--leader-elect-resource-name=${"a".repeat(254)}`, isLease],
])("refuses %s, which is no name", (flag, text) => {
  expect(parseFlags([flag], {})).toEqual(E.left({ help: false, text }));
});

it("refuses an empty namespace of its Pod", () => {
  const text = `--namespace (or $POD_NAMESPACE) ${isNamespace}`;
  expect(parseFlags([], { POD_NAMESPACE: "" })).toEqual(E.left({ help: false, text }));
});

it("takes every name that the API server takes", () => {
  const [label, name] = ["0-a".padEnd(63, "9"), `a.${"b-0.".repeat(60)}c`];
  const args = [`--namespace=${label}`, `--watch-namespace=${label}`, `--leader-elect-resource-name=${name}`];
  expect(parseFlags(args, {})).toMatchObject(
    E.right({ namespace: label, watchNamespaces: [label], leaderElection: { place: { namespace: label, name } } }),
  );
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
