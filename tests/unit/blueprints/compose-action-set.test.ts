// Tests which actions an ActionSet gets from what a user names, with and without a parent, and which one may be abandoned.
import {
  abandoned,
  ActionSet,
  actionsFrom,
  cannotAbandon,
  namedServiceAccount,
  objectNamed,
  profileProblems,
  RUNNING,
} from "@janus/blueprints/authoring";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";

const web = { kind: "deployment", namespace: "shop", name: "web" };
const action = { name: "restore", blueprint: "pg" };

const parent = (state: string | undefined, more: object = {}): ActionSet => {
  const read = ActionSet.decode({
    metadata: { name: "backup-1", namespace: "shop", uid: "u", resourceVersion: "7", ...more },
    spec: {
      actions: [
        {
          name: "backup",
          blueprint: "pg",
          object: web,
          options: { mode: "full", speed: "slow" },
          secrets: { aws: { name: "creds", namespace: "shop" } },
          profile: { name: "s3", namespace: "shop" },
          podOverride: { hostNetwork: true },
        },
      ],
    },
    ...(state === undefined
      ? {}
      : { status: { state, actions: [{ artifacts: { dump: { keyValue: { id: "b-1" } } } }] } }),
  });
  if (E.isLeft(read)) throw new Error("no ActionSet");
  return read.right;
};

it("kinds that Kanister knows are written as kanctl writes them, by any of their names", () => {
  expect(objectNamed("Deployment", "shop", "web")).toEqual(web);
  expect(objectNamed("deployments", "shop", "web")).toEqual(web);
  expect(objectNamed("persistentvolumeclaim", "shop", "data")).toEqual({
    kind: "pvc",
    namespace: "shop",
    name: "data",
  });
  expect(objectNamed("namespace", "x", "shop")).toEqual({ kind: "namespace", namespace: "shop", name: "shop" });
  expect(objectNamed("configmap", "shop", "web")).toBeUndefined();
});

it("one action for each object", () => {
  const other = { ...web, name: "api" };
  expect(actionsFrom(action, [web, other], { options: { mode: "full" } }, undefined)).toEqual(
    E.right([web, other].map((object) => ({ ...action, object, options: { mode: "full" } }))),
  );
  expect(E.isLeft(actionsFrom(action, [], {}, undefined))).toBe(true);
});

it("from a parent: its artifacts, and its object, Secrets, Profile and options where none are given; no podOverride", () => {
  expect(actionsFrom(action, [], { options: { mode: "fast" } }, parent("complete"))).toEqual(
    E.right([
      {
        ...action,
        object: web,
        artifacts: { dump: { keyValue: { id: "b-1" } } },
        secrets: { aws: { name: "creds", namespace: "shop" } },
        profile: { name: "s3", namespace: "shop" },
        options: { mode: "fast", speed: "slow" },
      },
    ]),
  );
});

it("only a complete parent has something to go on from", () => {
  for (const state of [undefined, "running", "failed"])
    expect(actionsFrom(action, [], {}, parent(state))).toMatchObject(
      E.left(expect.stringContaining("only a complete one has artifacts")),
    );
});

it("only one that was running under another controller may be abandoned, and only as it was read", () => {
  expect(cannotAbandon(parent("running"))).toBeUndefined();
  expect(cannotAbandon(parent("running", { finalizers: [RUNNING] }))).toContain("the controller has taken it up");
  for (const state of [undefined, "pending", "complete", "failed"])
    expect(cannotAbandon(parent(state))).not.toBeUndefined();
  expect(abandoned(parent("running"))).toMatchObject({
    metadata: { uid: "u", resourceVersion: "7" },
    status: { state: "failed" },
  });
});

it("a Profile needs a place, and the credentials of its type", () => {
  const valid = {
    location: { type: "s3Compliant", bucket: "b" },
    credential: { type: "keyPair", keyPair: { secret: { name: "x" } } },
  };
  expect(profileProblems(valid)).toEqual([]);
  expect(profileProblems({ location: { type: "s3" }, credential: { type: "secret" } })).toEqual([
    'location.type must be one of s3Compliant, gcs, azure, kopia, not "s3"',
    "location.bucket is missing",
    "credential.secret.name is missing",
  ]);
});

it.each([
  ["its field, whatever its label", { serviceAccountName: "ops" }, { "janus.io/service-account": "old" }, "ops"],
  ["its label, where the definition has no such field", {}, { "janus.io/service-account": "ops" }, "ops"],
  ["neither: then none is named", { serviceAccountName: "" }, {}, undefined],
])("an ActionSet names its ServiceAccount by %s", (_, spec, labels, account) => {
  expect(namedServiceAccount({ metadata: { labels }, spec })).toBe(account);
});
