// Tests the command-line flags of the Git journal: those of upstream are taken, with their names and defaults.
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { parseFlags } from "../../../packages/git-journal/src/shell/flags.ts";

it("has the defaults of the plan", () => {
  expect(parseFlags([], {})).toMatchObject(
    E.right({
      settings: {
        selection: { watchAll: false, excludes: [], secrets: true },
        limits: { maxFiles: 200, maxBytes: 1024 * 1024, maxWait: 20_000 },
      },
      ingests: true,
      discoveryRefresh: 300_000,
      workers: { global: 24, perRepository: 5 },
      leases: { leaseDuration: 24_000, renewDeadline: 18_000, retryPeriod: 8_000, writeTimeout: 4_800 },
      workDirectory: "/var/cache/gitops-reverser",
      largestClone: 1024 * 1024 * 1024,
      webhookPort: 9443,
      webhookRules: "Selected",
      certificates: undefined,
    }),
  );
});

it.each([
  [
    ["--discovery-exclude=batch/jobs", "--discovery-exclude", "core/secrets", "--discovery-exclude=pods"],
    {
      settings: {
        selection: {
          excludes: [{ group: "batch", plural: "jobs" }, { group: "", plural: "secrets" }, { plural: "pods" }],
        },
      },
    },
  ],
  [["--watch-all"], { settings: { selection: { watchAll: true } } }],
  [["--watch-all=false", "--watch-all=true"], { settings: { selection: { watchAll: true } } }],
  [["--enable-watch-ingestion=false"], { ingests: false }],
  [["--watch-secrets=false"], { settings: { selection: { secrets: false } } }],
  [["--discovery-refresh=1m30s"], { discoveryRefresh: 90_000 }],
  [
    ["--git-batch-max-wait-sec=0", "--git-batch-max-bytes-mib=2"],
    { settings: { limits: { maxWait: 0, maxBytes: 2_097_152 } } },
  ],
  [["--git-clone-max-mib=2"], { largestClone: 2_097_152 }],
  [
    ["--webhook-cert-path=/certs", "--webhook-cert-name=cert.pem"],
    { certificates: { directory: "/certs", certificate: "cert.pem", key: "tls.key" } },
  ],
])("takes %j", (args, expected) => {
  expect(parseFlags(args, {})).toMatchObject(E.right(expected));
});

it("takes the other flags of upstream, which change nothing", () => {
  const args = [
    "--leader-elect",
    "--metrics-bind-address=:8443",
    "--metrics-secure",
    "--health-probe-bind-address=:8081",
    "--enable-http2=false",
    "--metrics-cert-path=/certs",
  ];
  expect(parseFlags(args, {})).toEqual(parseFlags([], {}));
});

it.each([
  ["--leases-lease-sec=8", /--leases-renew-sec and --leases-lease-sec: the retry period/u],
  ["--leases-renew-sec=x", /--leases-renew-sec takes a number from 1 to 3600/u],
  ["--watch-all=maybe", /--watch-all takes true or false/u],
  ["--work-dir=here", /--work-dir takes the absolute path of a directory/u],
  ["--discovery-refresh=soon", /--discovery-refresh takes a duration such as 5m/u],
  ["--webhook-rules=None", /--webhook-rules takes Selected or All/u],
  ["--shards=2", /--shards takes true or false/u],
  ["--share", /Unknown option/u],
])("refuses %s", (arg, text) => {
  expect(parseFlags([arg], {})).toMatchObject(E.left({ help: false, text: expect.stringMatching(text) }));
});
