import { REQUEST_ROLLBACK, RETRY_ROLLBACK, type Render } from "@janus/api";
import type { Hook } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { applying, creating, deleting, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { configMap, role, roleBinding, secret, within } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { isExhaustive } from "../fixtures/sample.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const config = configMap("config", { value: "old" });
const change = patching(configMap("config", { value: "new" }));

const renderOf = async (place: Workspace, name = "txn"): Promise<Render | undefined> =>
  ((await place.txn(name)).status as { readonly render?: Render } | undefined)?.render;

/** The render of the generation that is there. */
const rendered = async (place: Workspace, name = "txn"): Promise<Render> => {
  let last: Render | undefined;
  await expect
    .poll(async () => {
      last = await renderOf(place, name);
      return last?.observedGeneration === (await place.txn(name)).metadata.generation;
    })
    .toBe(true);
  return last as Render;
};

const edit = (place: Workspace, spec: object, annotations: Readonly<Record<string, string>> = {}, name = "txn") =>
  place.patch({ ...transaction(name), metadata: { name, annotations }, spec });

const OF_JANUS: readonly string[] = ["transactions", "events", "selfsubjectaccessreviews"];
const READS: readonly string[] = ["get", "list", "watch", "raw"];

/** Lets no write pass that is none of the Transaction itself, nor a dry run. */
const harmless: Hook = async (request, next) => {
  const isDry = "dryRun" in request && request.dryRun;
  if ("resource" in request && !READS.includes(request.verb) && !isDry && !OF_JANUS.includes(request.resource.plural))
    throw new Error(`a Draft writes ${request.resource.plural}`);
  return next(request);
};

describe("a Draft", () => {
  it("shows what it would do, and changes nothing", async () => {
    const place = await workspace();
    await place.create(config, configMap("gone", { a: "1" }), configMap("same", { a: "1" }));
    await place.janus(harmless);
    await place.submit(
      [
        change,
        creating(configMap("made", { b: "2" })),
        deleting(configMap("gone")),
        applying(configMap("same", { a: "1" })),
      ],
      { lifecycle: "Draft" },
    );
    expect(await rendered(place)).toMatchObject({
      result: "OK",
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/u) as unknown,
      changes: [
        { result: "Change", diff: [{ path: ".data.value", before: '"old"', after: '"new"' }] },
        { result: "Create", diff: [{ path: ".data.b", after: '"2"' }] },
        { result: "Delete" },
        { result: "NoChange" },
      ],
    });
    const { status, metadata } = await place.txn();
    expect(status.conditions.find(({ type }) => type === "Ready")).toMatchObject({
      status: "False",
      reason: "Draft",
      message:
        "not applied: 1 to create, 1 to change, 1 to delete, 1 unchanged; propose it (spec.lifecycle: Proposed), or edit it",
    });
    expect(metadata.finalizers).toBeUndefined();
    expect((await place.read(config))["data"]).toEqual({ value: "old" });
  });

  it("reports problems in its render, which block no edit, and is rendered again after an edit", async () => {
    const place = await workspace();
    await place.create(config);
    await place.janus(harmless);
    await place.submit([patching(configMap("missing", { a: "1" }))], { lifecycle: "Draft" });
    const first = await rendered(place);
    expect(first).toMatchObject({
      result: "Problems",
      message: expect.stringContaining("missing not found") as unknown,
      changes: [{ result: "Refused" }],
    });
    expect(first.digest).toBeUndefined();
    await edit(place, { changes: [change] });
    expect(await rendered(place)).toMatchObject({
      result: "OK",
      observedGeneration: 2,
      changes: [{ result: "Change" }],
    });
  });

  it.each([
    ["a missing ServiceAccount", { serviceAccountName: "nobody" }, "ServiceAccount nobody does not exist"],
    [
      "an unknown kind",
      { changes: [{ type: "Delete", target: { apiVersion: "nowhere.example/v1", kind: "Gadget", name: "a" } }] },
      "does not serve Gadget",
    ],
    [
      "a denied read",
      {
        changes: [patching(configMap("kube-root-ca.crt", { a: "1" }))].map((one) => ({
          ...one,
          target: { ...one.target, namespace: "kube-system" },
        })),
      },
      "cannot be read",
    ],
  ])("reports %s in its render", async (_, spec, said) => {
    const place = await workspace();
    await place.janus(harmless);
    await place.submit([change], { lifecycle: "Draft", ...spec });
    const { result, message, digest } = await rendered(place);
    expect([result, message, digest]).toEqual(["Problems", expect.stringContaining(said) as unknown, undefined]);
  });

  it("shows no value of a Secret, nor of a sensitive kind", async () => {
    const place = await workspace({ sensitiveKinds: ["ConfigMap"] });
    await place.create(secret("token", { password: "b2xkLXZhbHVl" }), configMap("config", { value: "old-value" }));
    await place.janus(harmless);
    await place.submit(
      [
        patching(secret("token", { password: "bmV3LXZhbHVl" })),
        patching(configMap("config", { value: "new-value" })),
        creating(configMap("more", { value: "new-value" })),
      ],
      { lifecycle: "Draft" },
    );
    const { changes } = await rendered(place);
    expect(changes).toMatchObject([
      { result: "Change", diff: [{ path: ".data.password", before: "(changed)", after: "(changed)" }] },
      { result: "Change", diff: [{ path: ".data.value", before: "(changed)", after: "(changed)" }] },
      { result: "Create", diff: [{ path: ".data.value", after: "(changed)" }] },
    ]);
    expect(JSON.stringify(changes)).not.toMatch(/b2xk|bmV3|-value/u);
  });

  it("quotes no value of a sensitive kind that the API server refuses", async () => {
    const place = await workspace({ sensitiveKinds: ["ConfigMap"] });
    await place.create(config);
    const { log } = await place.janus();
    await place.submit(
      [
        patching({ ...configMap("config"), immutable: "hunter2" }),
        creating({ ...configMap("made"), metadata: { name: "made", labels: { a: "is hunter2" } } }),
      ],
      { lifecycle: "Draft" },
    );
    const { changes } = await rendered(place);
    expect(changes).toMatchObject([
      { result: "Refused", message: expect.stringContaining("failed to create typed patch object") as unknown },
      { result: "Refused", message: expect.stringContaining("metadata.labels (FieldValueInvalid)") as unknown },
    ]);
    const { status } = await place.txn();
    expect(JSON.stringify([status, await eventsOf(place.namespace, "txn"), log])).not.toContain("hunter2");
  });

  it("shows a status that is not a subresource like any other field", async () => {
    const place = await workspace();
    const { namespace } = place;
    const { size: _, ...one } = gadget(namespace);
    await administrator.create(gadgets(namespace));
    await administrator.create(
      within(namespace, role("gadgets", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] })),
    );
    await administrator.create(within(namespace, roleBinding("gadgets", "Role", "gadgets", `${namespace}/deployer`)));
    const live = within(namespace, { ...one, status: { owner: "old" } });
    const isMade = async () =>
      administrator.create(live).then(
        () => true,
        () => false,
      );
    await expect.poll(isMade).toBe(true);
    await place.janus();
    await place.submit([patching({ ...one, status: { owner: "new" } })], { lifecycle: "Draft" });
    expect((await rendered(place)).changes).toMatchObject([
      { result: "Change", diff: [{ path: ".status.owner", before: '"old"', after: '"new"' }] },
    ]);
    await administrator.remove(gadgets(namespace));
  });

  it("is rendered again when a target changes, and costs no request while nothing does", async () => {
    const place = await workspace();
    await place.create(config);
    const { hook, requests } = recording();
    await place.janus(hook);
    await place.submit([change], { lifecycle: "Draft" });
    const first = await rendered(place);
    await expect.poll(() => requests.some(({ purpose }) => purpose === "reflect")).toBe(true);
    await place.patch(configMap("config", { value: "other" }));
    await expect.poll(async () => (await renderOf(place))?.changes?.[0]?.diff?.[0]?.before).toBe('"other"');
    expect((await renderOf(place))?.digest).not.toBe(first.digest);
  });

  it("that comes to have problems, or has none any more, says nothing else, and rests again", async () => {
    const place = await workspace();
    await place.create(config);
    const { hook, requests } = recording();
    await place.janus(hook);
    const rests = () => expect.poll(() => quiet(requests), { interval: 1000 }).toBe(true);
    await place.submit([change], { lifecycle: "Draft" });
    await rendered(place);
    await edit(place, { changes: [creating(config)] });
    const refused = await rendered(place);
    expect([refused.result, refused.digest]).toEqual(["Problems", undefined]);
    await rests();
    await place.remove(config);
    await expect.poll(async () => (await renderOf(place))?.result).toBe("OK");
    expect((await renderOf(place))?.message).toBeUndefined();
    await rests();
  });

  it("is deleted when it was not edited for draftTTL", async () => {
    const place = await workspace();
    await place.create(config);
    await place.janus();
    await place.submit([change], { lifecycle: "Draft" });
    await rendered(place);
    await edit(place, { draftTTL: "3s" }, by("admin", "last-edited-by"));
    await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
  });
});

const by = (who: string, what: string) => ({ [`backup.janus.io/${what}`]: who });

describe("the audit of a Transaction", () => {
  it("reports once who requested, edited, proposed, rejected and approved it, and that it was executed", async () => {
    const place = await workspace();
    await place.create(config);
    const first = await place.janus();
    await place.submit([patching(configMap("config", { value: "first" }))], { lifecycle: "Draft" });
    await rendered(place);
    await edit(place, { changes: [change] }, by("admin", "last-edited-by"));
    await rendered(place);
    await first.stop();
    await place.janus();
    await edit(place, { lifecycle: "Proposed" }, by("admin", "lifecycle-changed-by"));
    await rendered(place);
    await edit(
      place,
      { lifecycle: "Draft" },
      { ...by("admin", "lifecycle-changed-by"), ...by("not on a Friday", "rejection-reason") },
    );
    await rendered(place);
    await edit(place, { lifecycle: "Proposed" }, by("admin", "lifecycle-changed-by"));
    const { digest } = await rendered(place);
    await edit(place, { lifecycle: "Published", approvedDigest: digest }, by("admin", "approved-by"));
    const { status } = await place.over();
    expect(status).toMatchObject({ phase: "Committed", approvedBy: "admin" });
    const deeds = ["Requested", "Edited", "Proposed", "Rejected", "Approved", "Executed"];
    await expect
      .poll(async () => (await eventsOf(place.namespace, "txn")).map(({ reason }) => reason))
      .toContain("Executed");
    const told = (await eventsOf(place.namespace, "txn")).filter(({ reason }) => deeds.includes(reason));
    // Events are written concurrently, in any order.
    expect(told.map(({ reason, message, count }) => `${reason} ${count}: ${message}`).toSorted()).toEqual([
      "Approved 1: approved by admin",
      "Edited 1: edited by admin",
      "Executed 1: executed as ServiceAccount deployer, approved by admin",
      "Proposed 2: proposed by admin",
      "Rejected 1: set back to Draft by admin: not on a Friday",
      "Requested 1: requested by an unknown user",
    ]);
  });
});

const approved = async (place: Workspace, changes: Parameters<Workspace["submit"]>[0]): Promise<string> => {
  await place.submit(changes, { lifecycle: "Proposed" });
  const { digest = "" } = await rendered(place);
  expect(digest).not.toBe("");
  return digest;
};

describe("a Transaction with an approved digest", () => {
  it("does what was approved, and drops the differences from its status", async () => {
    const place = await workspace();
    await place.create(config, secret("token", { a: "b2xk" }));
    await place.janus();
    const digest = await approved(place, [
      change,
      patching(secret("token", { a: "bmV3" })),
      creating(configMap("made", { a: "1" })),
      applying(configMap("there", { a: "1" })),
    ]);
    await edit(place, { lifecycle: "Published", approvedDigest: digest });
    const { status } = await place.over();
    expect(status.phase).toBe("Committed");
    const { changes } = (await renderOf(place)) ?? {};
    expect(changes?.map(({ result, diff }) => [result, diff])).toEqual(
      ["Change", "Change", "Create", "Create"].map((result) => [result, undefined]),
    );
  });

  it.each<[string, (place: Workspace) => Promise<unknown>, string]>([
    ["a field that it changes", (place) => place.patch(configMap("config", { value: "other" })), ".data.value"],
    [
      "a field that it changes, to its value",
      (place) => place.patch(configMap("config", { value: "new" })),
      "Change was approved, now it is NoChange",
    ],
    ["a Secret that it changes", (place) => place.patch(secret("token", { another: "YQ==" })), "token (changed since)"],
    ["an object that it deletes", (place) => place.patch(configMap("gone", { more: "1" })), "gone (changed since)"],
  ])("is Failed with no changes applied when another client has changed %s since", async (_, meddle, said) => {
    const place = await workspace();
    await place.create(config, secret("token", { a: "b2xk" }), configMap("gone"));
    const janus = await place.janus();
    const digest = await approved(place, [
      change,
      patching(secret("token", { a: "bmV3" })),
      deleting(configMap("gone")),
    ]);
    await janus.stop();
    await meddle(place);
    const before = await place.read(config);
    await edit(place, { lifecycle: "Published", approvedDigest: digest });
    await place.janus();
    const { status } = await place.over();
    expect(status.phase).toBe("Failed");
    expect(status.conditions.find(({ type }) => type === "ApprovalStale")).toMatchObject({
      status: "True",
      message: expect.stringContaining(said) as unknown,
    });
    expect(status.conditions.find(({ type }) => type === "Ready")).toMatchObject({ reason: "ApprovalStale" });
    expect(await place.read(config)).toEqual(before);
    expect(await place.exists(configMap("gone"))).toBe(true);
    expect((await place.names("v1", "ConfigMap")).toSorted()).toEqual(["config", "gone", "kube-root-ca.crt"]);
  });

  it.each<[string, (place: Workspace) => Promise<unknown>]>([
    ["a Secret that it changes", (place) => place.patch(secret("token", { another: "YQ==" }))],
    ["an object that it deletes", (place) => place.patch(configMap("gone", { more: "1" }))],
  ])("is rolled back when somebody changes %s while an earlier change is made", async (_, meddle) => {
    const place = await workspace();
    await place.create(config, secret("token", { a: "b2xk" }), configMap("gone"));
    await place.janus();
    const digest = await approved(place, [
      { ...change, waitFor: ["jsonpath={.data.gate}=open"] },
      patching(secret("token", { a: "bmV3" })),
      deleting(configMap("gone")),
    ]);
    await edit(place, { lifecycle: "Published", approvedDigest: digest });
    await expect.poll(async () => (await place.read(config))["data"]).toMatchObject({ value: "new" });
    await meddle(place);
    await place.patch(configMap("config", { gate: "open" }));
    const { status } = await place.over();
    expect([status.phase, status.conditions.find(({ type }) => type === "Committed")?.message]).toEqual([
      "RolledBack",
      expect.stringMatching(/was changed after it was approved/) as unknown,
    ]);
    expect(await place.exists(configMap("gone"))).toBe(true);
    expect(await place.read(config)).toMatchObject({ data: { value: "old", gate: "open" } });
  });

  it("is executed when a field has changed that it does not modify", async () => {
    const place = await workspace();
    await place.create(config);
    const janus = await place.janus();
    const digest = await approved(place, [change]);
    await janus.stop();
    await place.patch({ ...configMap("config", { another: "1" }), metadata: { name: "config", labels: { a: "b" } } });
    await edit(place, { lifecycle: "Published", approvedDigest: digest });
    await place.janus();
    expect((await place.over()).status.phase).toBe("Committed");
  });
});

describe("many Drafts", () => {
  const MANY = isExhaustive ? 300 : 100;

  const timeout = 480_000;
  it("cost no requests while nobody edits them, nor renders when the controller starts again", {
    timeout,
  }, async () => {
    const place = await workspace();
    await place.create(config);
    const first = recording();
    const janus = await place.janus(first.hook);
    for (let n = 0; n < MANY; n += 20)
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => place.submit([change], { name: `draft-${n + at}`, lifecycle: "Draft" })),
      );
    const areRendered = async (): Promise<boolean> => {
      const counted = first.requests.filter(({ purpose }) => purpose === "dry-run").length;
      return counted >= MANY && (await renderOf(place, `draft-${MANY - 1}`)) !== undefined;
    };
    await expect.poll(areRendered, { timeout: 600_000 }).toBe(true);
    // A plain Transaction after all of them: by then the controller has had its turn with what came before.
    await place.run([creating(configMap("after"))], { name: "after" });
    await expect.poll(() => quiet(first.requests), { interval: 2000 }).toBe(true);
    await janus.stop();

    const second = recording();
    await place.janus(second.hook);
    await expect
      .poll(() => second.requests.filter(({ purpose }) => purpose === "read-transaction").length)
      .toBeGreaterThanOrEqual(MANY);
    await expect.poll(() => quiet(second.requests), { interval: 2000 }).toBe(true);
    expect(second.requests.filter(({ purpose }) => purpose === "dry-run" || purpose === "record")).toEqual([]);
  });
});

const counts = new WeakMap<readonly unknown[], number>();

/** Whether no request was sent since this was asked last. */
const quiet = (requests: readonly unknown[]): boolean => {
  const before = counts.get(requests);
  counts.set(requests, requests.length);
  return before === requests.length;
};

describe.each([
  ["Draft", REQUEST_ROLLBACK, "RollbackRefused", "rollback requested"],
  ["Draft", RETRY_ROLLBACK, "RetryRefused", "a retry of the rollback was requested"],
  ["Proposed", REQUEST_ROLLBACK, "RollbackRefused", "rollback requested"],
])("for what is %s, the request %s", (lifecycle, request, reason, asked) => {
  it("is refused, and does not stop it when it is executed later", async () => {
    const place = await workspace();
    await place.create(config);
    await place.janus();
    await place.submit([change], { lifecycle });
    await rendered(place);
    await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [request]: "yes" } } });
    await expect.poll(async () => (await place.txn()).metadata.annotations?.[request]).toBeUndefined();
    const message = `${asked} by the annotation ${request}, but no changes are applied: the Transaction is ${lifecycle}`;
    await expect
      .poll(() => eventsOf(place.namespace, "txn"))
      .toContainEqual(expect.objectContaining({ reason, message }));
    await edit(place, { lifecycle: "Published" });
    expect((await place.over()).status.phase).toBe("Committed");
  });
});

describe("a Draft that is edited while it is rendered", () => {
  it("never shows the render of another generation as current", async () => {
    const place = await workspace();
    await place.create(config);
    let edits = 0;
    const wrong: unknown[] = [];
    await place.janus(async (request, next) => {
      if (request.purpose === "dry-run" && edits < 5) {
        edits += 1;
        await edit(place, { changes: [patching(configMap("config", { value: `edit-${edits}` }))] });
      }
      const answer = await next(request);
      if (request.purpose !== "record" || !("right" in answer)) return answer;
      const { metadata, spec, status } = answer.right as unknown as Recorded;
      const { observedGeneration, changes } = status.render ?? {};
      const shown = changes?.[0]?.diff?.[0]?.after;
      if (
        observedGeneration === metadata.generation &&
        shown !== JSON.stringify(spec.changes[0]?.content.data["value"])
      )
        wrong.push([spec, status.render]);
      return answer;
    });
    await place.submit([change], { lifecycle: "Draft" });
    await expect.poll(async () => (await renderOf(place))?.changes?.[0]?.diff?.[0]?.after).toBe('"edit-5"');
    expect(wrong).toEqual([]);
  });
});

interface Recorded {
  readonly metadata: { readonly generation: number };
  readonly spec: {
    readonly changes: readonly { readonly content: { readonly data: Readonly<Record<string, string>> } }[];
  };
  readonly status: { readonly render?: Render };
}
