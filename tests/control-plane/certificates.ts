// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 does not load without it
import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";

/** A certificate and its private key, both as PEM. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** Who a certificate is for: Kubernetes reads the user from its CN and the groups from its O. */
export interface Subject {
  readonly name: string;
  readonly groups?: readonly string[];
  /** Names and addresses that it serves. */
  readonly hosts?: readonly string[];
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const day = 24 * 60 * 60 * 1000;

const validity = () => ({
  serialNumber: randomBytes(15).toString("hex"),
  notBefore: new Date(Date.now() - day), // clocks of containers and hosts differ
  notAfter: new Date(Date.now() + 365 * day),
  signingAlgorithm: algorithm,
});

const keyPair = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);

const pem = async (certificate: x509.X509Certificate, key: webcrypto.CryptoKey): Promise<Pair> => ({
  certificate: `${certificate.toString("pem")}\n`,
  key: `${x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY")}\n`,
});

export const createAuthority = async (): Promise<Pair> => {
  const keys = await keyPair();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: [{ CN: ["janus-control-plane"] }],
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pem(certificate, keys.privateKey);
};

/** A certificate for clients, and for servers where the subject has hosts. */
export const issue = async (authority: Pair, subject: Subject): Promise<Pair> => {
  const issuer = new x509.X509Certificate(authority.certificate);
  const keys = await keyPair();
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(),
    subject: [{ CN: [subject.name] }, ...(subject.groups ?? []).map((group) => ({ O: [group] }))],
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await webcrypto.subtle.importKey(
      "pkcs8",
      x509.PemConverter.decodeFirst(authority.key),
      algorithm,
      false,
      ["sign"],
    ),
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth, x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        (subject.hosts ?? []).map((host) => ({ type: isIP(host) === 0 ? "dns" : "ip", value: host })),
      ),
    ],
  });
  return pem(certificate, keys.privateKey);
};
