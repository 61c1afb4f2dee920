/**
 * Keeps the webhook's own CA and certificate in a Secret, and renews them there.
 *
 * Guarantees: another leader goes on with the same ones; of two that renew at the same time only one writes.
 */
import { randomBytes } from "node:crypto";
import type { Api } from "@janus/kube";
import { type ApiError, asObject, type Instant, isAbsent, type KubeObject, secrets } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { TLS_SECRET } from "../api/names.ts";
import { bundleOf, type Certificate, type Certificates, renewal, withAuthority } from "../core/certificates.ts";
import { certificatesIn, hostsOf, isPair, issuerOf, type Pair } from "./read-certificates.ts";

/** The contents of the Secret; an empty text stands for none. */
export interface Held {
  /** CAs that are trusted, the newest first, and the key of the newest. */
  readonly authorities: string;
  readonly authorityKey: string;
  readonly serving: Pair;
  /** The part of the webhook's path that only the API server is told. */
  readonly path: string;
  /** The token that a replica shows to be told the requests that the webhook has seen. */
  readonly token: string;
}

const fieldsOf = ({ authorities, authorityKey, serving, path, token }: Held): Readonly<Record<string, string>> => ({
  "ca.crt": authorities,
  "ca.key": authorityKey,
  "tls.crt": serving.certificate,
  "tls.key": serving.key,
  path,
  token,
});

const heldIn = (secret: KubeObject | undefined): Held => {
  const data = asObject(secret?.["data"]);
  const text = (name: string): string => {
    const value = data[name];
    return typeof value === "string" ? Buffer.from(value, "base64").toString() : "";
  };
  return {
    authorities: text("ca.crt"),
    authorityKey: text("ca.key"),
    serving: { certificate: text("tls.crt"), key: text("tls.key") },
    path: text("path"),
    token: text("token"),
  };
};

const RANDOM = /^[0-9a-f]{32}$/u;

const randomUnless = (known: string): string => (RANDOM.test(known) ? known : randomBytes(16).toString("hex"));

const certificatesOf = ({ authorities, authorityKey, serving }: Held): Certificates => {
  const trusted = certificatesIn(authorities);
  const [newest] = trusted;
  const [served] = certificatesIn(serving.certificate);
  const hasKey = isPair(serving);
  return {
    authorities: trusted,
    canIssue: newest !== undefined && isPair({ certificate: newest.pem, key: authorityKey }),
    serving:
      served === undefined || !hasKey
        ? undefined
        : { ...served, hosts: hostsOf(served.pem), issuer: issuerOf(served.pem, trusted)?.pem },
  };
};

/** A CA, and when the callers were first seen to trust it. */
export interface Trusted {
  readonly authority: string;
  readonly since: Instant;
}

/** The newest CA, which {@link Trusted} is about. */
export const newestOf = ({ authorities }: Held): Certificate | undefined => certificatesIn(authorities)[0];

/** Makes what has to be made next; returns the same if that is nothing. */
const withNext = async (
  held: Held,
  hosts: readonly string[],
  trusted: Trusted | undefined,
  now: Instant,
): Promise<Held> => {
  const certificates = certificatesOf(held);
  const [newest] = certificates.authorities;
  const since = newest?.pem === trusted?.authority ? trusted?.since : undefined;
  const next = renewal(certificates, hosts, since, now);
  if (next === undefined) return held;
  const { makeAuthority, makeCertificate } = await import("./make-certificates.ts");
  if (next === "serving" && newest !== undefined) {
    const authority = { certificate: newest.pem, key: held.authorityKey };
    return { ...held, serving: await makeCertificate(authority, hosts, now) };
  }
  const { certificate, key } = await makeAuthority(now);
  const made = certificatesIn(certificate).flatMap((one) => withAuthority(one, certificates.authorities, now));
  return { ...held, authorities: bundleOf(made), authorityKey: key };
};

/** Returns what has to be in the Secret now: perhaps with a new CA, and perhaps with a certificate that it has signed. */
export const renewed = async (
  held: Held,
  hosts: readonly string[],
  trusted: Trusted | undefined,
  now: Instant,
): Promise<Held> => withNext(await withNext(held, hosts, trusted, now), hosts, trusted, now);

const PURPOSE = "webhook-certificates";

/** Reads the token that a replica shows the leader to be told the requests; empty: no leader has made it yet. */
export const tokenIn = async (api: Api, namespace: string): Promise<E.Either<ApiError, string>> => {
  const answer = await api.send({ verb: "get", resource: secrets, namespace, name: TLS_SECRET, purpose: PURPOSE });
  return E.isLeft(answer) && isAbsent(answer.left)
    ? E.right("")
    : E.map((one: KubeObject) => heldIn(one).token)(answer);
};

const written = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));

/**
 * Reads the Secret, and writes what `change` makes of it. Left: the Secret could not be read or written; a later try reads anew.
 */
export const keptSecret = async (
  api: Api,
  namespace: string,
  change: (held: Held) => Promise<Held>,
): Promise<E.Either<ApiError, Held>> => {
  const place = { resource: secrets, namespace, purpose: PURPOSE };
  const answer = await api.send({ verb: "get", ...place, name: TLS_SECRET });
  if (E.isLeft(answer) && !isAbsent(answer.left)) return answer;
  const secret = E.isRight(answer) ? answer.right : undefined;
  const held = heldIn(secret);
  const changed = await change({ ...held, path: randomUnless(held.path), token: randomUnless(held.token) });
  const before = fieldsOf(held);
  const fields = Object.entries(fieldsOf(changed)).filter(([name, text]) => before[name] !== text);
  if (fields.length === 0) return E.right(changed);
  const data = written(Object.fromEntries(fields));
  const write = await api.send(
    secret === undefined
      ? {
          verb: "create",
          ...place,
          body: { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: TLS_SECRET }, type: "Opaque", data },
        }
      : {
          verb: "mergePatch",
          ...place,
          name: TLS_SECRET,
          body: { metadata: { resourceVersion: secret.metadata.resourceVersion ?? null }, data },
        },
  );
  return E.map(() => changed)(write);
};
