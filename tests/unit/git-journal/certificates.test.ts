// Tests when the webhook's CA and certificate are renewed: early enough, and never before whoever calls it trusts what is served.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bundleOf,
  type Certificate,
  type Certificates,
  LIVES,
  renewal,
  type ServingCertificate,
  SETTLED_AFTER,
  validityFrom,
  withAuthority,
} from "../../../packages/git-journal/src/core/certificates.ts";

const HOST = "webhook.janus-system.svc";
const DAY = 86_400_000;
const NOW = 1_000 * DAY;

const authority = (pem: string, made: number): Certificate => ({ pem, ...validityFrom(made, LIVES.authority) });
const serving = (issuer: string | undefined, made: number, hosts = [HOST]): ServingCertificate => ({
  pem: `of ${issuer}`,
  issuer,
  hosts,
  ...validityFrom(made, LIVES.serving),
});
const held = (more: Partial<Certificates> = {}): Certificates => ({
  authorities: [authority("a", NOW - DAY)],
  canIssue: true,
  serving: serving("a", NOW - DAY),
  ...more,
});
const next = (certificates: Certificates, trustedSince?: number, now = NOW) =>
  renewal(certificates, [HOST], trustedSince, now);

const two = [authority("b", NOW - DAY), authority("a", NOW - 300 * DAY)];

describe("what is made next", () => {
  it.each<readonly [string, Certificates, number | undefined, ReturnType<typeof renewal>]>([
    ["nothing, while all is young", held(), undefined, undefined],
    [
      "a CA, where there is none",
      held({ authorities: [], serving: undefined, canIssue: false }),
      undefined,
      "authority",
    ],
    ["a CA, where its key is lost", held({ canIssue: false }), undefined, "authority"],
    ["a CA, after two thirds of its life", held({ authorities: [authority("a", NOW - 250 * DAY)] }), 0, "authority"],
    ["a CA, where it is of the future", held({ authorities: [authority("a", NOW + DAY)] }), 0, "authority"],
    ["a certificate, where there is none", held({ serving: undefined }), undefined, "serving"],
    [
      "a certificate, after two thirds of its life",
      held({ serving: serving("a", NOW - 61 * DAY) }),
      undefined,
      "serving",
    ],
    ["a certificate, where it is for another host", held({ serving: serving("a", NOW, ["x"]) }), undefined, "serving"],
    ["a certificate, where its CA is not trusted", held({ serving: serving(undefined, NOW) }), undefined, "serving"],
    ["nothing, while nobody trusts the new CA", held({ authorities: two }), undefined, undefined],
    ["nothing, while not all may trust it", held({ authorities: two }), NOW - SETTLED_AFTER + 1, undefined],
    ["a certificate of the new CA, once all trust it", held({ authorities: two }), NOW - SETTLED_AFTER, "serving"],
    [
      "a certificate of the new CA, where the old certificate is over",
      held({ authorities: two, serving: serving("a", NOW - 91 * DAY) }),
      undefined,
      "serving",
    ],
  ])("%s", (_, certificates, trustedSince, expected) => {
    expect(next(certificates, trustedSince)).toBe(expected);
  });
});

describe("the CAs that are trusted", () => {
  it("are the new one and those that may still have signed what is served", () => {
    const former = [authority("b", NOW - 300 * DAY), authority("old", NOW - 400 * DAY)];
    expect(withAuthority(authority("c", NOW), former, NOW).map(({ pem }) => pem)).toEqual(["c", "b"]);
    expect(bundleOf(former)).toBe("b\nold\n");
  });

  it("whenever it is looked, and whether or not it is written where callers see it: what is served is valid and trusted", () => {
    const look = fc.record({ after: fc.integer({ min: 1, max: 40 * DAY }), isPublished: fc.boolean() });
    fc.assert(
      fc.property(fc.array(look, { maxLength: 60 }), (looks) => {
        let now = NOW;
        let made = 0;
        let certificates: Certificates = { authorities: [], canIssue: false, serving: undefined };
        let published: readonly string[] = [];
        let since: number | undefined;
        for (const { after, isPublished } of [{ after: 1, isPublished: true }, ...looks]) {
          now += after;
          const before = certificates.serving;
          const wasGood = before?.issuer !== undefined && now < before.notAfter && published.includes(before.issuer);
          for (let step = 0; step < 2; step += 1) {
            const [newest] = certificates.authorities;
            const what = renewal(certificates, [HOST], since, now);
            if (what === "authority") {
              made += 1;
              certificates = {
                ...certificates,
                authorities: withAuthority(authority(`ca${made}`, now), certificates.authorities, now),
                canIssue: true,
              };
              since = undefined;
            } else if (what === "serving") certificates = { ...certificates, serving: serving(newest?.pem, now) };
          }
          const { serving: served, authorities } = certificates;
          expect(served !== undefined && now < served.notAfter).toBe(true);
          // What was good stays good, although nothing more is published.
          expect(!wasGood || published.includes(served?.issuer ?? "")).toBe(true);
          const [newest] = authorities;
          if (isPublished) published = authorities.map(({ pem }) => pem);
          expect(!wasGood || published.includes(served?.issuer ?? "")).toBe(true);
          since = published.includes(newest?.pem ?? "") ? (since ?? now) : undefined;
          expect(authorities.length).toBeLessThanOrEqual(3);
        }
      }),
    );
  });
});
