// Reads certificates and keys.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Certificate, Validity } from "../core/certificates.ts";

/** A certificate and its private key, both as PEM. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

const parsed = (pem: string): X509Certificate | undefined => {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
};

const validityOf = ({ validFrom, validTo }: X509Certificate): Validity => ({
  notBefore: Date.parse(validFrom),
  notAfter: Date.parse(validTo),
});

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

/** Returns all certificates of a bundle that can be read, in their order. */
export const certificatesIn = (bundle: string): readonly Certificate[] =>
  (bundle.match(PEM) ?? []).flatMap((text) => {
    const one = parsed(text);
    return one === undefined ? [] : [{ pem: `${text}\n`, ...validityOf(one) }];
  });

/** Spells an address as in URLs: one of IPv6 has many spellings. */
const asInUrl = (host: string): string => (isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host);

/** Returns the names and addresses that a certificate is for. */
export const hostsOf = (certificate: string): readonly string[] =>
  (parsed(certificate)?.subjectAltName ?? "")
    .split(", ")
    .flatMap((name) => /^(?:DNS|IP Address):(?<host>.+)$/u.exec(name)?.groups?.["host"] ?? [])
    .map(asInUrl);

/** Whether the private key is that of the certificate. */
export const isPair = ({ certificate, key }: Pair): boolean => {
  try {
    return parsed(certificate)?.checkPrivateKey(createPrivateKey(key)) ?? false;
  } catch {
    return false;
  }
};

/** Finds the CA that has signed the certificate. */
export const issuerOf = (certificate: string, authorities: readonly Certificate[]): Certificate | undefined => {
  const one = parsed(certificate);
  return authorities.find(({ pem }) => {
    const authority = parsed(pem);
    return one !== undefined && authority !== undefined && one.verify(authority.publicKey);
  });
};
