// Makes CAs, and certificates that they sign. Loaded only when one is made: what it imports takes 25 MiB.
// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 does not load without it
import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import type { Instant } from "@janus/types";
import * as x509 from "@peculiar/x509";
import { LIVES, type Validity, validityFrom } from "../core/certificates.ts";
import type { Pair } from "./read-certificates.ts";

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

/** Makes a CA. No two have the same name: a client that trusts several of them finds the one that has signed. */
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

/** Makes a certificate for a server that is called by these names and addresses. */
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
    // The length of a CN is bounded; clients look at the alternative names.
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
