/**
 * Decides when the webhook's own CA and certificate are renewed, so that whoever calls the webhook trusts it all the time.
 *
 * A new CA is trusted beside the former ones before anything is served with it.
 */
import type { Instant } from "@janus/types";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The time by which a certificate begins before it is made, in ms: clocks of nodes differ. */
const BACKDATED = HOUR;

/** The lives of certificates from when they are made, in ms. */
export const LIVES = { authority: 365 * DAY, serving: 90 * DAY };

/** The time after which every API server trusts a CA that the configuration names, in ms. */
export const SETTLED_AFTER = 60_000;

/** The most CAs that are trusted. */
const MOST_AUTHORITIES = 3;

export interface Validity {
  readonly notBefore: Instant;
  readonly notAfter: Instant;
}

export interface Certificate extends Validity {
  readonly pem: string;
}

export interface ServingCertificate extends Certificate {
  /** The names and addresses that it is for. */
  readonly hosts: readonly string[];
  /** The PEM of the CA that has signed it; undefined: none of those that are trusted. */
  readonly issuer: string | undefined;
}

/** The certificates that exist and can be read. */
export interface Certificates {
  /** The CAs that are trusted, the newest first. */
  readonly authorities: readonly Certificate[];
  /** Whether the key of the newest is there, and is its. */
  readonly canIssue: boolean;
  /** The certificate of the webhook; undefined: there is none with its key. */
  readonly serving: ServingCertificate | undefined;
}

export const validityFrom = (now: Instant, life: number): Validity => ({
  notBefore: now - BACKDATED,
  notAfter: now + life,
});

const isValid = ({ notBefore, notAfter }: Validity, now: Instant): boolean => notBefore <= now && now < notAfter;

/** Whether it is not valid, or two thirds of its life are over: there is time to repair what keeps it from being renewed. */
const isDue = (one: Validity, now: Instant): boolean =>
  !isValid(one, now) || now >= one.notBefore + ((one.notAfter - one.notBefore) * 2) / 3;

/**
 * Decides what to make next; undefined: nothing.
 *
 * Guarantees: as long as there is a valid certificate of a CA that is trusted, a certificate of another CA takes its place only when
 *             that one has been trusted for {@link SETTLED_AFTER}.
 *
 * @param hosts those that the certificate has to be for
 * @param trustedSince when the callers were first seen to trust the newest CA; undefined: they do not, or nobody knows
 */
export const renewal = (
  { authorities: [newest], canIssue, serving }: Certificates,
  hosts: readonly string[],
  trustedSince: Instant | undefined,
  now: Instant,
): "authority" | "serving" | undefined => {
  if (newest === undefined || !canIssue || isDue(newest, now)) return "authority";
  if (serving?.issuer === undefined || !isValid(serving, now)) return "serving";
  if (!hosts.every((host) => serving.hosts.includes(host))) return "serving";
  if (serving.issuer === newest.pem) return isDue(serving, now) ? "serving" : undefined;
  return trustedSince !== undefined && now - trustedSince >= SETTLED_AFTER ? "serving" : undefined;
};

/** Adds a new CA to those that are trusted: former ones stay while something that they have signed may be served. */
export const withAuthority = (
  newest: Certificate,
  former: readonly Certificate[],
  now: Instant,
): readonly Certificate[] => [newest, ...former.filter((one) => isValid(one, now))].slice(0, MOST_AUTHORITIES);

/** The CAs as the configuration of the webhook names them. */
export const bundleOf = (authorities: readonly Pick<Certificate, "pem">[]): string =>
  authorities.map(({ pem }) => `${pem.trim()}\n`).join("");
