// Tests that Secrets are written so that only their recipients read them, and are read back only as they were written.
import { asObject, isKubeObject, type JsonObject, type KubeObject, readYaml } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { identitiesOf, secretsOf } from "../../../packages/git-journal/src/core/age-keys.ts";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { contentOf } from "../../../packages/git-journal/src/core/file-content.ts";
import { ingested, type ObjectFile } from "../../../packages/git-journal/src/core/kept-object.ts";
import { ROOT } from "../../../packages/git-journal/src/core/path.ts";
import { sanitised } from "../../../packages/git-journal/src/core/sanitise.ts";
import { rulesOfWatchRule } from "../../../packages/git-journal/src/core/selection.ts";
import { decrypted, fileText } from "../../../packages/git-journal/src/shell/sops.ts";
import { ANNA, BEN, CHRIS } from "./age-identities.ts";
import { dataOf, secret as anySecret } from "./arbitrary-secret.ts";
import { right } from "./right.ts";

const key = new Uint8Array(32).fill(7);
const rules = right(rulesOfWatchRule({ rules: [{ resources: ["secrets"] }] }, "shop"));
const resource = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true, rules };

/** What is written of a live Secret. */
const kept = (object: KubeObject, ageRecipients: readonly string[] = [ANNA.recipient]) => {
  const { secrets } = secretsOf(key, ageRecipients);
  const one = ingested(object, { resource, folder: ROOT, namespaceLabels: {}, secrets, format: "sha1" });
  if (one.type !== "kept") throw new Error(one.type);
  return one;
};

const secretWith = (data: JsonObject, metadata: JsonObject = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "db", namespace: "shop", ...metadata },
  type: "Opaque",
  data,
});

const textOf = (object: KubeObject, ageRecipients?: readonly string[]): Promise<string> =>
  fileText(kept(object, ageRecipients).file);

const documentOf = (text: string): JsonObject => asObject(readYaml(text)[0]?.value);

const recipientsIn = (text: string): readonly unknown[] =>
  (asObject(documentOf(text)["sops"])["age"] as readonly JsonObject[]).map(({ recipient }) => recipient);

/** The Secret without what of it is only on this cluster, and without the digest. */
const wanted = (object: JsonObject): unknown => (isKubeObject(object) ? sanitised(object) : undefined);

describe("a Secret", () => {
  it("is read back from its file by every recipient as it was written", async () => {
    await fc.assert(
      fc.asyncProperty(anySecret, fc.constantFrom(ANNA, BEN), async (object, { identity }) => {
        const text = await textOf(object, [ANNA.recipient, BEN.recipient]);
        const read = right(await decrypted(text, [CHRIS.identity, identity]));
        const { data, ...clean } = sanitised(object);
        expect(wanted(read)).toEqual(Object.keys(asObject(data)).length === 0 ? clean : { ...clean, data });
      }),
      { numRuns: 60 },
    );
  });

  it("has a file in the canonical form, which is compared by the digest and the recipients", async () => {
    await fc.assert(
      fc.asyncProperty(anySecret, async (object) => {
        const text = await textOf(object);
        expect(canonicalYaml(documentOf(text))).toBe(text);
        expect(contentOf(text)?.fingerprint).toBe(kept(object).object.fingerprint);
        expect(contentOf(text)?.fingerprint).not.toBe(kept(object, [BEN.recipient]).object.fingerprint);
      }),
      { numRuns: 60 },
    );
  });

  it("without recipients has a file that is compared without decrypting it", async () => {
    await fc.assert(
      fc.asyncProperty(anySecret, async (object) => {
        const text = await textOf(object, []);
        expect(contentOf(text)?.fingerprint).toBe(kept(object, []).object.fingerprint);
      }),
    );
  });

  it("is encrypted for each recipient once, in whatever order they are given", async () => {
    const [text, other] = await Promise.all([
      textOf(secretWith({ a: "YQ==" }), [BEN.recipient, ANNA.recipient, BEN.recipient]),
      textOf(secretWith({ a: "YQ==" }), [ANNA.recipient, BEN.recipient]),
    ]);
    expect(recipientsIn(text)).toEqual([ANNA.recipient, BEN.recipient].toSorted());
    expect(recipientsIn(other)).toEqual(recipientsIn(text));
    expect(contentOf(other)).toEqual(contentOf(text));
  });

  it("has another key and other bytes each time", async () => {
    const object = secretWith({ a: "YQ==" });
    const ciphers = await Promise.all([textOf(object), textOf(object)]);
    const [one, two] = ciphers.map((text) => asObject(documentOf(text)["data"])["a"]);
    expect(one).not.toBe(two);
  });

  it("is not read without the private key of a recipient, and says for whom it is", async () => {
    const text = await textOf(secretWith({ a: "YQ==" }), [ANNA.recipient]);
    expect(await decrypted(text, [BEN.identity])).toEqual(
      E.left(`none of the private keys is that of a recipient: ${ANNA.recipient}`),
    );
    expect(E.isLeft(await decrypted(text, []))).toBe(true);
  });
});

/** All spellings in which a text might hold it: as it is, and in base64, whatever is before it. */
const spellings = (value: string): readonly string[] => [
  value,
  ...["", "x", "xx"].map((before) => {
    const start = Math.ceil((before.length * 4) / 3);
    return Buffer.from(before + value)
      .toString("base64")
      .slice(start === 0 ? 0 : start + 1, -4);
  }),
  Buffer.from(value).toString("hex"),
  encodeURIComponent(value),
];

/** With the marked value in data, and in what tools keep of a manifest. */
const marked = (value: string, around: string, labels: JsonObject): KubeObject => {
  const data = { password: Buffer.from(around + value).toString("base64") };
  const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: "db" } };
  return secretWith(data, {
    labels,
    annotations: {
      "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ ...manifest, data }),
      "kapp.k14s.io/original": JSON.stringify({ ...manifest, stringData: { password: around + value } }),
      "example.com/yaml": `data:\n  password: ${data.password}\n`,
      "objectset.rio.cattle.io/applied": Buffer.from(value).toString("base64"),
      "example.com/team": "shop",
    },
  });
};

describe("no value of a Secret", () => {
  /** Long enough that it is not found by chance. */
  const mark = fc.string({ unit: fc.constantFrom(...Array.from("abcdefghijklmnop")), minLength: 12, maxLength: 12 });

  it.each([
    // SOPS encrypts a label of this name, too.
    ["encrypted", [ANNA.recipient], "data"],
    ["without its data", [], undefined],
  ])("is in plain in its file, or in what is kept of it: %s", async (_, recipients, label) => {
    await fc.assert(
      fc.asyncProperty(mark, fc.string({ maxLength: 3 }), async (value, around) => {
        const object = marked(value, around, label === undefined ? {} : { [label]: value });
        const one = kept(object, recipients);
        const text = await fileText(one.file);
        const written = `${text}${JSON.stringify({ path: one.path, ...one.object, marks: [...one.object.marks] })}`;
        for (const spelling of spellings(value)) expect(written).not.toContain(spelling);
        expect(text).toContain("example.com/team: shop");
      }),
    );
  });

  it("is in an error about a file that was edited", async () => {
    await fc.assert(
      fc.asyncProperty(mark, async (value) => {
        const data = Buffer.from(value).toString("base64");
        const text = await textOf(secretWith({ password: data, other: data }));
        const edits = [
          text.replace(/^ {2}other: .*$/mu, `  other: ${data}`),
          text.replace(/^ {2}other: .*\n/mu, ""),
          text.replace(/^kind: Secret$/mu, "kind: ConfigMap"),
          `${text}  : ${value}\n`,
          text.replace("type: Opaque", `type: [${value}`),
        ];
        const errors = await Promise.all(edits.map((edited) => decrypted(edited, [ANNA.identity])));
        for (const error of errors) {
          expect(E.isLeft(error)).toBe(true);
          for (const spelling of spellings(value)) expect(JSON.stringify(error)).not.toContain(spelling);
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe("a file that was edited is refused", () => {
  const object = secretWith({ password: "cDQ=", user: "YW5uYQ==" }, { labels: { app: "web" } });
  const ENC = /ENC\[AES256_GCM,data:[^\]]+\]/u;
  const cipherOf = (text: string, name: string): string =>
    new RegExp(`^  ${name}: (${ENC.source})$`, "mu").exec(text)?.[1] ?? "";

  it.each<readonly [string, (text: string) => string, string]>([
    ["a label", (text) => text.replace("app: web", "app: db"), "edited without sops"],
    ["a value in plain", (text) => text.replace(cipherOf(text, "user"), "Yg=="), "data.user is not encrypted"],
    ["an empty value", (text) => text.replace(cipherOf(text, "user"), '""'), "edited without sops"],
    ["a value less", (text) => text.replace(/^ {2}user: .*\n/mu, ""), "edited without sops"],
    ["a value more", (text) => text.replace(/^data:$/mu, 'data:\n  admin: ""\n  b: x'), "data.b is not encrypted"],
    [
      "a value in another place",
      (text) => text.replace(cipherOf(text, "user"), cipherOf(text, "password")),
      "data.user was changed, or moved there, after it was encrypted",
    ],
    ["another name of a value", (text) => text.replace("  user:", "  admin:"), "data.admin was changed, or moved"],
    [
      "a shorter tag",
      (text) =>
        text.replace(/(user: ENC\[.*tag:)([^,]+)/u, (_, head: string, tag: string) => {
          const short = Buffer.from(tag, "base64").subarray(0, 4).toString("base64");
          return `${head}${short}`;
        }),
      "data.user was changed",
    ],
    ["no mac", (text) => text.replace(/mac: ENC.*$/mu, 'mac: ""'), "edited without sops"],
    ["the mac of another time", (text) => text.replace(/lastmodified: "\d{4}/u, 'lastmodified: "1999'), "edited"],
    [
      "a value that is no text",
      (text) => text.replace(cipherOf(text, "user"), "[]\n  z: true"),
      "data.z is not encrypted",
    ],
    ["values that are not encrypted", (text) => text.replace("|stringData)", ")"), "encrypted in another way"],
    ["a mac of some values", (text) => text.replace("  mac:", "  mac_only_encrypted: true\n  mac:"), "in another way"],
    ["no keys", (text) => text.replace(/^ {2}age:[^]*END AGE.*\n.*\n/mu, "  age: []\n"), "for no key of age"],
    ["no sops", (text) => text.replace(/^sops:[^]*?^type/mu, "type"), "it is not encrypted by SOPS"],
    ["two documents", (text) => `${text}---\n${text}`, "it is not one object"],
    ["a list", () => "- a\n", "it is not one object"],
    ["no YAML", () => "a: [", "it is no YAML: line "],
  ])("%s", async (_, edit, because) => {
    const text = await textOf(object);
    const edited = edit(text);
    expect(edited).not.toBe(text);
    expect(await decrypted(edited, [ANNA.identity])).toEqual(E.left(expect.stringContaining(because)));
  });

  it("any byte of a ciphertext", async () => {
    const text = await textOf(object);
    const places = [...text.matchAll(/(?:data:|tag:|iv:)(?=[^,\n]{4})/gu)].map(
      ({ index, 0: { length } }) => index + length,
    );
    expect(places.length).toBe(9);
    for (const at of places) {
      const edited = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
      expect(E.isLeft(await decrypted(edited, [ANNA.identity])), text.slice(at - 5, at)).toBe(true);
    }
  });
});

describe("recipients", () => {
  it("none: Secrets are written without their data", () => {
    expect(secretsOf(key)).toEqual({ secrets: { key, recipients: [] }, problem: undefined });
  });

  it.each([
    ["a private key", ANNA.identity, "is a private key: everybody who reads this object has it now"],
    ["a private key in lower case", ANNA.identity.toLowerCase(), "is a private key"],
    ["a key of SSH", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ anna@example.com", "is a key of SSH"],
    ["a private key of SSH", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "is a private key"],
    [
      "a key of a plugin",
      "age1yubikey1q2w7u3vpya839jxxuq8g0sedh3d740d4xvn639sqhr95ejj8vu3hyfumptt",
      "is a key of a plugin",
    ],
    ["a post-quantum key", "age1pq1qqqqqqqqq", "is a key of a plugin of age, or a post-quantum one"],
    ["upper case", ANNA.recipient.toUpperCase(), "is no public key of age"],
    ["a space", ` ${ANNA.recipient}`, "is no public key of age"],
    ["a wrong letter", ANNA.recipient.replace(/.$/u, "q"), "is no public key of age"],
    ["nothing", "", "is no public key of age"],
    ["a part", ANNA.recipient.slice(0, -1), "is no public key of age"],
    // Points of small order: age refuses to encrypt for them.
    ["zero", "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z", "is no public key of age"],
    ["one", "age1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj7vrya", "is no public key of age"],
    ["minus one", "age1anlllllllllllllllllllllllllllllllllllllllllllllllals4n2t7m", "is no public key of age"],
    ["order 8", "age1ur4h5lpmgxu2u9jku0a0r87ydtdqnr0tnsetrlvxvgz3vh6fhzqqxqejhu", "is no public key of age"],
    ["another of order 8", "age1t7wft09r2zxzfvwsk92eeql0tvzyghxytqwgapkcyf8dm5ylz9ts6wm9s8", "is no public key of age"],
  ])("%s is refused by its place, and never repeated: Secrets are left as they are", (_, text, because) => {
    const { secrets, problem: said = "" } = secretsOf(key, [ANNA.recipient, text]);
    expect(secrets.recipients).toBeUndefined();
    expect(said).toContain(`spec.secrets.ageRecipients[1] ${because}`);
    expect(text !== "" && said.toLowerCase().includes(text.toLowerCase())).toBe(false);
  });

  it("any that is accepted can be encrypted for", async () => {
    const file = kept(secretWith({ a: "YQ==" }), [ANNA.recipient, BEN.recipient, CHRIS.recipient]).file;
    expect(await fileText(file)).toContain("BEGIN AGE ENCRYPTED FILE");
  });
});

describe("private keys", () => {
  it("are those of a key file, beside comments and keys of other kinds", () => {
    const file = `# created: 2026-01-01\r\n# public key: ${ANNA.recipient}\r\n${ANNA.identity}\r\n\n ${BEN.identity} \nAGE-PLUGIN-YUBIKEY-1QQ\n`;
    expect(identitiesOf(file)).toEqual(E.right([ANNA.identity, BEN.identity]));
  });

  it("that are not complete are named by their line", () => {
    const file = `${ANNA.identity}\n${BEN.identity.slice(0, -1)}\n`;
    expect(identitiesOf(file)).toEqual(E.left("line 2 is no private key of age: it is not complete, or was changed"));
  });

  it.each(["", "# nothing\n", ANNA.recipient, ANNA.identity.toLowerCase()])("are missed in %j", (file) => {
    expect(identitiesOf(file)).toEqual(
      E.left("there is no private key of age in it: a line that begins with AGE-SECRET-KEY-1"),
    );
  });
});

it("plain files are written as they are", async () => {
  const file: ObjectFile = { type: "plain", text: "a: b\n" };
  expect(await fileText(file)).toBe("a: b\n");
});

it("data of a Secret are generated", () => {
  expect(fc.sample(anySecret, 200).some((one) => Object.keys(dataOf(one)).length > 2)).toBe(true);
});
