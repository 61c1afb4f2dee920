// Makes CAs, and certificates that they sign, and reads what is in them.
// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 does not load without it
import "reflect-metadata";
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Instant } from "@janus/types";
import * as x509 from "@peculiar/x509";
import { type Certificate, LIVES, type Validity, validityFrom } from "../core/certificates.ts";

/** A certificate and its private key, both as PEM. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

const keyPair = () => webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

const certain = ({ notBefore, notAfter }: Validity) => ({
  serialNumber: randomBytes(15).toString("hex"),
  notBefore: new Date(notBefore),
  notAfter: new Date(notAfter),
  signingAlgorithm: ALGORITHM,
});

const pairOf = async (certificate: x509.X509Certificate, key: webcrypto.CryptoKey): Promise<Pair> => ({
  certificate: `${certificate.toString("pem").trim()}\n`,
  key: `${x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY").trim()}\n`,
});

/** A CA. No two have the same name: who trusts several of them finds the one that has signed. */
export const makeAuthority = async (now: Instant, validity = validityFrom(now, LIVES.authority)): Promise<Pair> => {
  const keys = await keyPair();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...certain(validity),
    name: [{ CN: [`janus-git-journal-ca-${randomBytes(4).toString("hex")}`] }],
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pairOf(certificate, keys.privateKey);
};

/** A certificate of a server that is called by these names and addresses. */
export const makeCertificate = async (
  authority: Pair,
  hosts: readonly string[],
  now: Instant,
  validity = validityFrom(now, LIVES.serving),
): Promise<Pair> => {
  const issuer = new x509.X509Certificate(authority.certificate);
  const [keys, signingKey] = await Promise.all([
    keyPair(),
    webcrypto.subtle.importKey("pkcs8", x509.PemConverter.decodeFirst(authority.key), ALGORITHM, false, ["sign"]),
  ]);
  const certificate = await x509.X509CertificateGenerator.create({
    ...certain(validity),
    // Its length is bounded; who calls looks at the other names.
    subject: [{ CN: ["janus-git-journal"] }],
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) === 0 ? "dns" : "ip", value: host })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return pairOf(certificate, keys.privateKey);
};

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

/** All that can be read, in their order. */
export const certificatesIn = (bundle: string): readonly Certificate[] =>
  (bundle.match(PEM) ?? []).flatMap((text) => {
    const one = parsed(text);
    return one === undefined ? [] : [{ pem: `${text}\n`, ...validityOf(one) }];
  });

/** An address of IPv6 has many spellings: as in URLs. */
const asInUrl = (host: string): string => (isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host);

/** Names and addresses that a certificate is for. */
export const hostsOf = (certificate: string): readonly string[] =>
  (parsed(certificate)?.subjectAltName ?? "")
    .split(", ")
    .flatMap((name) => /^(?:DNS|IP Address):(?<host>.+)$/u.exec(name)?.groups?.["host"] ?? [])
    .map(asInUrl);

/** Whether the key is that of the certificate. */
export const isPair = ({ certificate, key }: Pair): boolean => {
  try {
    return parsed(certificate)?.checkPrivateKey(createPrivateKey(key)) ?? false;
  } catch {
    return false;
  }
};

/** Which of these has signed the certificate. */
export const issuerOf = (certificate: string, authorities: readonly Certificate[]): Certificate | undefined => {
  const one = parsed(certificate);
  return authorities.find(({ pem }) => {
    const authority = parsed(pem);
    return one !== undefined && authority !== undefined && one.verify(authority.publicKey);
  });
};
