import { readFileSync } from "node:fs";
import { lookup } from "node:dns/promises";
import { createConnection } from "node:net";
import { once } from "node:events";
import { expect, it } from "vitest";
import { reasonOf } from "../../../packages/kube/src/api/error-reason.ts";

const errorOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing failed");
};

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });

it("says what failed in the words of kubectl, and not in those of Node", async () => {
  expect(reasonOf(await errorOf(() => readFileSync("/none/a.yaml")))).toBe(
    "open /none/a.yaml: no such file or directory",
  );
  expect(reasonOf(await errorOf(() => readFileSync("/")))).toBe("is a directory");
  expect(reasonOf(await errorOf(() => once(createConnection(1, "127.0.0.1"), "connect")))).toBe(
    "dial 127.0.0.1:1: connection refused - did you specify the right host or port?",
  );
  expect(reasonOf(await errorOf(() => lookup("nowhere.invalid")))).toMatch(
    /^lookup nowhere\.invalid: (no such|temporary)/u,
  );
});

it("says of a certificate what is wrong with it, and gives no advice on Node", () => {
  const advice =
    "self-signed certificate in certificate chain; if the root CA is installed locally, try running Node.js";
  expect(reasonOf(coded(advice, "SELF_SIGNED_CERT_IN_CHAIN"))).toBe(
    "x509: certificate signed by unknown authority. Is certificate-authority of the kubeconfig that of this server?",
  );
});

it("says each reason once, if several addresses were tried", () => {
  const refused = coded("connect ECONNREFUSED", "ECONNREFUSED");
  expect(reasonOf(new AggregateError([refused, refused]))).toBe(
    "connection refused - did you specify the right host or port?",
  );
  expect(reasonOf(coded("something else", "EOTHER"))).toBe("something else");
});
