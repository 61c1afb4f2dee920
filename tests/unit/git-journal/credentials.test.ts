// Tests how credentials are read of Secrets and URLs, and that they are left in no text, in whatever spelling.
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { authenticationFor, type Credentials } from "../../../packages/git-journal/src/core/credentials.ts";
import { repositoryUrl } from "../../../packages/git-journal/src/core/repository-url.ts";
import { scrubber } from "../../../packages/git-journal/src/core/scrub.ts";
import { right } from "./right.ts";

const HTTPS = "https://git.example.com/r";
const SSH = "git@git.example.com:r";

const read = (url: string, data?: Readonly<Record<string, string>>) =>
  authenticationFor(
    right(repositoryUrl(url)),
    data === undefined ? undefined : { namespace: "shop", name: "cred", data },
  );
const message = (url: string, data?: Readonly<Record<string, string>>): string => {
  const result = read(url, data);
  return E.isLeft(result) ? result.left.message : "";
};

describe("credentials", () => {
  it.each<readonly [string, string, Readonly<Record<string, string>> | undefined, Credentials]>([
    ["none", HTTPS, undefined, { by: "nothing" }],
    ["of an empty Secret", HTTPS, {}, { by: "nothing" }],
    [
      "username and password",
      HTTPS,
      { username: "u", password: "p\n" },
      { by: "password", username: "u", password: "p" },
    ],
    ["bearerToken", HTTPS, { bearerToken: "t\r\n" }, { by: "token", token: "t" }],
    [
      "username and password before bearerToken, as upstream",
      HTTPS,
      { username: "u", password: "p", bearerToken: "t" },
      { by: "password", username: "u", password: "p" },
    ],
    ["of the URL", "https://u:p%40@g/r", undefined, { by: "password", username: "u", password: "p@" }],
    ["a token in the URL", "https://t@g/r", {}, { by: "password", username: "t", password: "" }],
    ["of the Secret rather than of the URL", "https://u:p@g/r", { bearerToken: "t" }, { by: "token", token: "t" }],
    [
      "of ssh",
      SSH,
      { "ssh-privatekey": "k", known_hosts: "h" },
      { by: "key", privateKey: "k", passphrase: undefined, knownHosts: "h" },
    ],
    [
      "of ssh with a passphrase",
      SSH,
      { "ssh-privatekey": "k", "ssh-password": "p\n", known_hosts: "h" },
      { by: "key", privateKey: "k", passphrase: "p", knownHosts: "h" },
    ],
    [
      "of ssh, as documented upstream",
      SSH,
      { identity: "k", password: "p", known_hosts: "h" },
      { by: "key", privateKey: "k", passphrase: "p", knownHosts: "h" },
    ],
  ])("%s", (_, url, data, credentials) => {
    const result = read(url, data);
    expect(E.isRight(result) ? result.right.credentials : result.left).toEqual(credentials);
  });

  it("a certificate authority is for https", () => {
    expect(read(HTTPS, { "ca.crt": "c" })).toMatchObject({ right: { ca: "c" } });
    expect(read(HTTPS, { caFile: "c" })).toMatchObject({ right: { ca: "c" } });
    expect(read("http://g/r", { caFile: "c" })).toMatchObject({ right: { ca: undefined } });
  });

  it.each<readonly [string, Readonly<Record<string, string>> | undefined, string]>([
    [
      SSH,
      { "ssh-privatekey": "k" },
      "Secret shop/cred has no known_hosts: add the output of ssh-keyscan git.example.com",
    ],
    [
      "ssh://git@g:2222/r",
      { identity: "k", known_hosts: "" },
      "Secret shop/cred has no known_hosts: add the output of ssh-keyscan -p 2222 g",
    ],
    [SSH, { known_hosts: "h" }, "Secret shop/cred has no ssh-privatekey (or identity): add the private key"],
    [SSH, undefined, "secretRef is required for ssh: a Secret with ssh-privatekey and known_hosts"],
    [HTTPS, { username: "u" }, "Secret shop/cred has no password: add it, or use bearerToken"],
    [HTTPS, { password: "p" }, "Secret shop/cred has no username: add it, or use bearerToken"],
    [HTTPS, { username: "u:v", password: "p" }, "Secret shop/cred has a colon in username, which HTTP does not allow"],
    [
      HTTPS,
      { bearerToken: "a\nX-Other: b" },
      "Secret shop/cred has a control character in username, password or bearerToken: remove it",
    ],
  ])("%s with %j is refused", (url, data, why) => {
    expect(message(url, data)).toBe(why);
  });
});

const scrubbed = (credentials: Credentials, text: string): string =>
  scrubber({ protocol: "https", credentials, ca: undefined })(text);

describe("scrubbed", () => {
  const secret = fc.string({
    unit: fc.constantFrom(...Array.from("aB1/+=%?&@: é~'()*!_-.")),
    minLength: 6,
    maxLength: 12,
  });
  const around = fc.constantFrom("", "fatal: ", "remote: unauthorized ", "https://g/r?x=");
  it("no spelling of a password or token is left", () => {
    fc.assert(
      fc.property(secret, around, around, (value, before, after) => {
        const spellings = [
          value,
          encodeURIComponent(value),
          encodeURIComponent(value).replaceAll(/%../gu, (escape) => escape.toLowerCase()),
          Buffer.from(value).toString("base64"),
          Buffer.from(value).toString("base64url"),
          JSON.stringify(value).slice(1, -1),
          JSON.stringify(value).slice(1, -1).replaceAll("é", "\\u00e9"),
          JSON.stringify(value).slice(1, -1).replaceAll("é", "\\u00E9"),
          Buffer.from(value).toString("latin1"),
        ];
        const header = Buffer.from(`user:${value}`).toString("base64");
        for (const spelling of spellings) {
          expect(scrubbed({ by: "token", token: value }, `${before}${spelling}${after}`)).not.toContain(spelling);
          expect(
            scrubbed({ by: "password", username: "user", password: value }, `${before}${spelling}${after}`),
          ).not.toContain(spelling);
        }
        expect(scrubbed({ by: "password", username: "user", password: value }, `Authorization: Basic ${header}`)).toBe(
          "Authorization: Basic ***",
        );
      }),
    );
  });

  it("what stands before the host of any URL goes, known or not", () => {
    const text = "unable to access 'https://user:pa@ss@git.example.com/r/': https://tok@h/, ssh://git@g/r";
    expect(scrubbed({ by: "nothing" }, text)).toBe(
      "unable to access 'https://***@git.example.com/r/': https://***@h/, ssh://***@g/r",
    );
  });

  it("a name is shown, unless it is the token", () => {
    const text = "could not read Password for user tok";
    expect(scrubbed({ by: "password", username: "tok", password: "" }, text)).toBe(
      "could not read Password for user ***",
    );
    expect(scrubbed({ by: "password", username: "tok", password: "x-oauth-basic" }, text)).toBe(
      "could not read Password for user ***",
    );
    expect(scrubbed({ by: "password", username: "tok", password: "other" }, text)).toBe(text);
  });

  it("no line of a private key is left, nor its passphrase", () => {
    const line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU";
    const privateKey = `-----BEGIN OPENSSH PRIVATE KEY-----\n${line}\n-----END OPENSSH PRIVATE KEY-----\n`;
    const credentials: Credentials = { by: "key", privateKey, passphrase: "correct horse", knownHosts: "" };
    expect(scrubbed(credentials, `bad key ${line}: incorrect passphrase correct horse`)).toBe(
      "bad key ***: incorrect passphrase ***",
    );
    const beginning = "-----BEGIN OPENSSH PRIVATE KEY-----";
    expect(scrubbed(credentials, beginning)).toBe(beginning);
  });
});
