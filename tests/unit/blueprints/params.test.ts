// Tests what templates see: the parameters that the reference names, and a Profile as Go marshals it, which kando reads.
import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { ActionSet } from "../../../packages/blueprints/src/api/action-set.ts";
import { newJournal } from "../../../packages/blueprints/src/core/journal.ts";
import { paramsOf } from "../../../packages/blueprints/src/core/params.ts";
import type { Inquiry } from "../../../packages/blueprints/src/core/requests.ts";
import { type Data, renderText } from "../../../packages/blueprints/src/core/templates.ts";
import { PARAMETERS } from "../../../packages/cli/src/reference/template-reference.ts";

const base64 = (all: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(all).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));

const secret = (name: string, data: Readonly<Record<string, string>>, more: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "kanister", uid: "u-1", resourceVersion: "7", labels: { z: "1", a: "2" } },
  data: base64(data),
  ...more,
});

const SECRETS: Readonly<Record<string, KubeObject>> = {
  pair: secret("pair", { id: "id", key: "<&\"'\u2028>é" }),
  gcp: secret("gcp", { "service-account.json": "{}", "project-id": "p" }, { type: "secrets.kanister.io/gcp" }),
  kopia: secret("kopia", { password: "pw", cert: "cert\n" }),
};

/** As kanctl names one: every field is there. */
const ref = (name: string) => ({ apiVersion: "", group: "", resource: "", kind: "", name, namespace: "kanister" });

const inquiryOf = (profile: object): Inquiry => ({
  missing: [],
  ask: ({ fact }) => {
    const [kind, , name = ""] = fact.split("/");
    const found =
      kind === "Profile"
        ? { apiVersion: "cr.kanister.io/v1alpha1", kind, metadata: { name, namespace: "kanister" }, ...profile }
        : SECRETS[name];
    if (found === undefined) throw new Error(`nobody was to ask for ${fact}`);
    return E.right(found);
  },
});

const paramsWith = (profile: object): E.Either<string, Data> => {
  const actionSet = ActionSet.decode({
    metadata: { name: "a", namespace: "kanister", uid: "u", resourceVersion: "1" },
    spec: { actions: [{ name: "backup", profile: ref("p") }] },
  });
  if (E.isLeft(actionSet)) throw new Error("no ActionSet");
  const journal = newJournal({
    serviceAccount: "ops",
    time: "2026-01-01T00:00:00.000Z",
    seed: "",
    spec: actionSet.right.spec ?? {},
    actions: [{ blueprint: {}, phases: [], configMaps: {} }],
  });
  const params = paramsOf(inquiryOf(profile), actionSet.right, journal, { action: 0, phase: 0 });
  if (params === undefined) throw new Error("something is still to be read");
  return params;
};

const rendered = (profile: object, template = "{{ toJson .Profile }}"): unknown =>
  E.match(
    (problem: string): unknown => problem,
    (data: Data): unknown => renderText(template, data, { now: 0, seed: "", at: "" }),
  )(paramsWith(profile));

const location = (type: string, bucket = "", endpoint = "", prefix = "", region = "") => ({
  location: { type, bucket, endpoint, prefix, region },
});
const keyPair = (secretField: string) => ({ idField: "id", secretField, secret: ref("pair") });
const kopia = (more: object) => ({
  ...location("kopia"),
  credential: {
    type: "kopia",
    kopiaServerSecret: {
      userPassphrase: { key: "password", secret: ref("kopia") },
      tlsCert: { key: "cert", secret: ref("kopia") },
      ...more,
    },
  },
});

/** What Go 1.26 makes of values of Kanister's types with these contents. */
const GO: readonly (readonly [what: string, profile: object, json: string])[] = [
  [
    "a pair of keys",
    {
      ...location("s3Compliant", "b", "http://minio:9000?a=1&b=2", "a/b", "eu"),
      credential: { type: "keyPair", keyPair: keyPair("key") },
      skipSSLVerify: true,
    },
    String.raw`{"Location":{"type":"s3Compliant","bucket":"b","endpoint":"http://minio:9000?a=1\u0026b=2","prefix":"a/b","region":"eu"},"Credential":{"Type":"keyPair","KeyPair":{"ID":"id","Secret":"\u003c\u0026\"'\u2028\u003eé"},"Secret":null,"KopiaServerSecret":null},"SkipSSLVerify":true}`,
  ],
  [
    "a Secret",
    { location: { type: "gcs", bucket: "b" }, credential: { type: "secret", secret: ref("gcp") } },
    `{"Location":{"type":"gcs","bucket":"b","endpoint":"","prefix":"","region":""},"Credential":{"Type":"secret","KeyPair":null,"Secret":{"metadata":{"name":"gcp","namespace":"kanister","uid":"u-1","resourceVersion":"7","labels":{"a":"2","z":"1"}},"data":{"project-id":"cA==","service-account.json":"e30="},"type":"secrets.kanister.io/gcp"},"KopiaServerSecret":null},"SkipSSLVerify":false}`,
  ],
  [
    "a server of kopia",
    kopia({ username: "u", hostname: "h", connectOptions: { b: 2, a: 1 } }),
    String.raw`{"Location":{"type":"kopia","bucket":"","endpoint":"","prefix":"","region":""},"Credential":{"Type":"kopia","KeyPair":null,"Secret":null,"KopiaServerSecret":{"Username":"u","Hostname":"h","Password":"pw","Cert":"cert\n","ConnectOptions":{"a":1,"b":2}}},"SkipSSLVerify":false}`,
  ],
  [
    "a server of kopia of which little is said",
    kopia({}),
    String.raw`{"Location":{"type":"kopia","bucket":"","endpoint":"","prefix":"","region":""},"Credential":{"Type":"kopia","KeyPair":null,"Secret":null,"KopiaServerSecret":{"Username":"","Hostname":"","Password":"pw","Cert":"cert\n","ConnectOptions":null}},"SkipSSLVerify":false}`,
  ],
  [
    "nothing",
    {},
    `{"Location":{"type":"","bucket":"","endpoint":"","prefix":"","region":""},"Credential":{"Type":"","KeyPair":null,"Secret":null,"KopiaServerSecret":null},"SkipSSLVerify":false}`,
  ],
];

describe("toJson .Profile is what Go makes of one", () => {
  it.each(GO)("with %s", (what, profile, json) => {
    const isSecret = what !== "nothing";
    expect(rendered(profile)).toEqual(E.right({ pieces: [{ text: json, isTainted: isSecret }] }));
  });
});

it.each([
  [
    "a key that its Secret does not have",
    { credential: { keyPair: keyPair("none") } },
    'Secret kanister/pair has no key "none" (Profile kanister/p)',
  ],
  ["no Secret", { credential: { keyPair: {} } }, "Profile kanister/p names no Secret in its keyPair"],
  ["no certificate", kopia({ tlsCert: undefined }), "Profile kanister/p names no Secret in its tlsCert"],
])("a Profile with %s is a problem that says so", (_, profile, problem) => expect(rendered(profile)).toBe(problem));

it("the reference names each parameter, and no other", () => {
  const data = paramsWith({});
  if (E.isLeft(data) || data.right.is !== "struct") throw new Error("no parameters");
  expect(PARAMETERS.map(([name]) => name).toSorted()).toEqual(
    data.right.type.fields.map(({ name }) => name).toSorted(),
  );
});
