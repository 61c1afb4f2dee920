// Secrets in Git, compared with the real sops and age: each reads what the other has written, and refuses what was edited.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { equal, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { identitiesOf, secretsOf } from "../../packages/git-journal/src/core/age-keys.ts";
import { canonicalYaml } from "../../packages/git-journal/src/core/canonical.ts";
import { sanitised } from "../../packages/git-journal/src/core/sanitise.ts";
import { contentDigest, fileOfSecret } from "../../packages/git-journal/src/core/secret-file.ts";
import { decrypted, fileText } from "../../packages/git-journal/src/shell/sops.ts";
import { object as anyObject } from "../unit/git-journal/arbitrary-object.ts";
import { ANNA, BEN } from "../unit/git-journal/age-identities.ts";
import { dataOf, secret as anySecret } from "../unit/git-journal/arbitrary-secret.ts";
import { right } from "../unit/git-journal/right.ts";
import { hasSops, sopsDirectory } from "./sops/tools.ts";

let programs: string;
let directory: string;

const sops = async (args: readonly string[], identity = ANNA.identity): Promise<string> => {
  const env = { PATH: process.env["PATH"], HOME: directory, SOPS_AGE_KEY: identity };
  const options = { env, cwd: directory, maxBuffer: 1 << 26 };
  return (await promisify(execFile)(path.join(programs, "sops"), ["--disable-version-check", ...args], options)).stdout;
};

const saved = async (text: string): Promise<string> => {
  const file = path.join(await mkdtemp(path.join(directory, "file-")), "secret.yaml");
  await writeFile(file, text);
  return file;
};

const decrypts = async (text: string, identity = ANNA.identity): Promise<JsonObject> =>
  JSON.parse(await sops(["decrypt", "--output-type=json", await saved(text)], identity)) as JsonObject;

/** The file of a live Secret before it is encrypted. */
const fileOf = (object: Parameters<typeof sanitised>[0]): { readonly file: JsonObject; readonly data: JsonObject } => {
  const clean = sanitised(object);
  const digest = contentDigest(new Uint8Array(32), clean);
  return { file: fileOfSecret(clean, { digest, recipients: [ANNA.recipient] }).file, data: dataOf(object) };
};

const whole = ({ file, data }: ReturnType<typeof fileOf>): JsonObject =>
  Object.keys(data).length === 0 ? file : { ...file, data };

/** sops writes an annotation `<<` with a tag, which kubectl does not read either. */
const hasMerge = ({ metadata: { annotations = {} } }: KubeObject): boolean => Object.values(annotations).includes("<<");

/** Above what Go's int64 holds: it reads these, and encrypts no file with one. */
const HUGE_INTEGER = /\d{19,}/u;

const RECIPIENTS = [ANNA.recipient, BEN.recipient];
const RULE = ["--encrypted-regex", "^(data|stringData)$"];

describe.runIf(await hasSops())("the real sops", () => {
  beforeAll(async () => {
    programs = await sopsDirectory();
    directory = await mkdtemp(path.join(os.tmpdir(), "janus-sops-"));
  }, 3_600_000);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it("reads what we have written", async () => {
    await fc.assert(
      fc.asyncProperty(anySecret, async (object) => {
        const file = fileOf(object);
        const text = await fileText({ type: "encrypted", ...file, recipients: RECIPIENTS });
        expect(await decrypts(text)).toEqual(whole(file));
      }),
      { numRuns: 60 },
    );
  });

  it("has written what we read, or cannot read itself", async () => {
    await fc.assert(
      fc.asyncProperty(
        anySecret.filter((one) => !hasMerge(one)),
        async (object) => {
          const plain = whole(fileOf(object));
          const text = await sops([
            "encrypt",
            "--age",
            RECIPIENTS.join(","),
            ...RULE,
            await saved(canonicalYaml(plain)),
          ]);
          const read = await decrypted(text, [BEN.identity]);
          // Of an annotation such as "\ta\n" it writes null, and then misses it.
          expect(read).toEqual(await decrypts(text).then(E.right, () => E.left(expect.stringContaining("sops.mac"))));
          expect(E.isLeft(read) || equal(read.right, plain)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("reads the canonical form of any object as it is", async () => {
    // With one process for all: as one object, of which it encrypts nothing.
    const items = fc.sample(anyObject, 1_000).filter((one) => !HUGE_INTEGER.test(JSON.stringify(one)));
    const file = await saved(canonicalYaml({ items }));
    const nothing = ["encrypt", "--age", ANNA.recipient, "--encrypted-regex", "^nothing$"];
    const read = JSON.parse(await sops([...nothing, "--output-type=json", file])) as { readonly items: JsonObject[] };
    expect(read.items.filter((one, at) => !equal(one, items[at]))).toEqual([]);
    expect(read.items.length).toBe(items.length);
  });

  it("has edited, or given to other recipients, what we have written, and we read it", async () => {
    const file = fileOf({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "db", namespace: "shop" },
      data: { "9": "YQ==", "10": "Yg==", a: "" },
    });
    const place = await saved(await fileText({ type: "encrypted", ...file, recipients: [ANNA.recipient] }));
    await sops(["set", place, '["data"]["10"]', '"Yw=="']);
    await sops(["rotate", "--in-place", "--add-age", BEN.recipient, "--rm-age", ANNA.recipient, place]);
    const text = await readFile(place, "utf8");
    const expected = { ...file.file, data: { ...file.data, "10": "Yw==" } };
    expect(right(await decrypted(text, [BEN.identity]))).toEqual(expected);
    expect(E.isLeft(await decrypted(text, [ANNA.identity]))).toBe(true);
  });

  it.each<readonly [string, (text: string) => string]>([
    ["a label", (text) => text.replace("app: web", "app: db")],
    ["a value in plain", (text) => text.replace(/user: ENC.*$/mu, "user: Yg==")],
    ["a value less", (text) => text.replace(/^ {2}user: .*\n/mu, "")],
    ["another name of a value", (text) => text.replace("  user:", "  admin:")],
    ["no mac", (text) => text.replace(/mac: ENC.*$/mu, 'mac: ""')],
    [
      "a byte",
      (text) =>
        text.replace(/(user: ENC\[AES256_GCM,data:)(.)/u, (_, head, byte) => `${head}${byte === "A" ? "B" : "A"}`),
    ],
  ])("and we refuse alike what was edited: %s", async (_, edit) => {
    const file = fileOf({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "db", namespace: "shop", labels: { app: "web" } },
      data: { password: "cDQ=", user: "YW5uYQ==" },
    });
    const text = await fileText({ type: "encrypted", ...file, recipients: RECIPIENTS });
    const edited = edit(text);
    expect(edited).not.toBe(text);
    await expect(decrypts(text)).resolves.toEqual(whole(file));
    await expect(decrypts(edited)).rejects.toThrow(/MAC|decrypt/u);
    expect(E.isLeft(await decrypted(edited, [ANNA.identity]))).toBe(true);
  });

  it("has a key file that we read, and recipients that we accept", async () => {
    const { stdout } = await promisify(execFile)(path.join(programs, "age-keygen"));
    const [identity = ""] = right(identitiesOf(stdout));
    const recipient = /public key: (\S+)/u.exec(stdout)?.[1] ?? "";
    expect(secretsOf(new Uint8Array(32), [recipient]).problem).toBeUndefined();
    const file = fileOf({ apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, data: { a: "YQ==" } });
    const text = await fileText({ type: "encrypted", ...file, recipients: [recipient] });
    expect(right(await decrypted(text, [identity]))).toEqual(whole(file));
    expect(await decrypts(text, identity)).toEqual(whole(file));
  });
});
