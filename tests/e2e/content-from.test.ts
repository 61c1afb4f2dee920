import { describe, expect, it, onTestFinished } from "vitest";
import { applying, creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { collected, COLLECTED_WITHIN } from "../fixtures/collected.ts";
import { contentsMap, contentsSecret, from, zippedMap } from "../fixtures/contents.ts";
import { gate } from "../fixtures/gate.ts";
import { configMap, role, roleBinding, secret } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { transaction, type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const made = configMap("made", { a: "1" });
const contents = contentsMap("contents", { one: made });
const change = from(creating(made), contents, "one");

const messageOf = ({ status }: Txn): string =>
  status.conditions.find(({ type }) => type === "Ready")?.message ?? "no message";

const valueOf = async (place: Workspace, name: string): Promise<unknown> =>
  ((await place.read(configMap(name)))["data"] as Readonly<Record<string, unknown>>)["value"];

/** A controller dies when it has made so many of the changes, and is about to send the next one. */
const diesAfter = async (count: number, place: Workspace, changes: readonly WrittenChange[]): Promise<void> => {
  let sent = 0;
  const { hook, reached, open } = gate(({ purpose }) => {
    if (purpose === "change") sent += 1;
    return sent > count;
  });
  const dying = await place.janus(hook);
  // First of all at the end: it would wait for the request.
  onTestFinished(open);
  await place.submit(changes);
  await reached;
  void dying.stop();
};

describe("a content that is in a ConfigMap or Secret", () => {
  it("is applied, plain or compressed, whatever the type of its change, and rolled back exactly", async () => {
    const place = await workspace();
    await place.create(configMap("updated", { value: "old" }), configMap("patched", { value: "old", other: "x" }));
    const before = await Promise.all(["updated", "patched"].map((name) => place.read(configMap(name))));
    const plain = contentsMap("plain", {
      made,
      updated: configMap("updated", { value: "new" }),
      bad: { data: { value: 5 } },
    });
    const zipped = zippedMap("zipped", { patched: { data: { value: "new" } } });
    const hidden = contentsSecret("hidden", { secret: secret("secret", { key: "hunter2" }) });
    const open = contentsSecret("open", { applied: configMap("applied", { value: "new" }) }, (json) => json);
    await place.create(plain, zipped, hidden, open);
    const changes = [
      from(creating(made), plain, "made"),
      from(updating(configMap("updated")), plain, "updated"),
      from(patching(configMap("patched")), zipped, "patched"),
      from(creating(secret("secret")), hidden, "secret"),
      from(applying(configMap("applied")), open, "applied"),
    ];
    await place.janus();
    await place.submit(changes, { rollbackWindow: "1h" });
    await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
    const txn = await place.txn();
    expect((await place.read(made))["data"]).toEqual({ a: "1" });
    expect(await valueOf(place, "updated")).toBe("new");
    expect((await place.read(configMap("patched")))["data"]).toEqual({ value: "new", other: "x" });
    expect(await valueOf(place, "applied")).toBe("new");
    expect(JSON.stringify(await place.txn())).not.toContain("hunter2");
    expect(txn.status).toMatchObject({
      contents: [
        { kind: "ConfigMap", name: "plain", uid: (await place.read(plain)).metadata.uid },
        { kind: "ConfigMap", name: "zipped", digest: expect.stringMatching(/^sha256:/u) as string },
        { kind: "Secret", name: "hidden" },
        { kind: "Secret", name: "open" },
      ],
    });
    await place.patch({
      ...transaction("txn"),
      metadata: { name: "txn", annotations: { "backup.janus.io/request-rollback": "" } },
    });
    await expect.poll(async () => (await place.txn()).status.phase).toBe("RolledBack");
    expect(await place.exists(made)).toBe(false);
    expect(await place.exists(secret("secret"))).toBe(false);
    for (const object of before) {
      const { resourceVersion: _, ...metadata } = (await place.read(configMap(object.metadata.name ?? ""))).metadata;
      expect(metadata).toMatchObject({ managedFields: object.metadata.managedFields });
    }
    expect(await valueOf(place, "updated")).toBe("old");
  });

  it(
    "is waited for where it is created after the Transaction, which it belongs to",
    async () => {
      const place = await workspace();
      await place.janus();
      const { metadata } = await place.submit([change]);
      const ownerReferences = [
        { apiVersion: "backup.janus.io/v1alpha1", kind: "Transaction", name: "txn", uid: metadata.uid ?? "" },
      ];
      await place.create({ ...contents, metadata: { name: "contents", ownerReferences } });
      expect((await place.over()).status.phase).toBe("Committed");
      await place.remove(transaction("txn"));
      await collected(place, contents);
      expect(await place.exists(made)).toBe(true);
    },
    COLLECTED_WITHIN,
  );

  const deep = `${"[".repeat(600)}${"]".repeat(600)}`;
  it.each<readonly [what: string, object: ReturnType<typeof contentsMap> | undefined, message: string]>([
    ["does not exist", undefined, "changes[0]: ConfigMap NS/contents not found: create it, with immutable: true"],
    [
      "may still be edited",
      { ...contents, immutable: false },
      "changes[0]: ConfigMap NS/contents may still be edited: set immutable: true",
    ],
    ["lacks the key", contentsMap("contents", { two: made }), "changes[0]: one in ConfigMap NS/contents is missing"],
    [
      "is not JSON",
      contentsMap("contents", { one: "hunter2: {" }),
      "changes[0]: one in ConfigMap NS/contents is not a JSON object, plain or compressed with gzip",
    ],
    [
      "is a list",
      contentsMap("contents", { one: "[]" }),
      "changes[0]: one in ConfigMap NS/contents is not a JSON object, plain or compressed with gzip",
    ],
    [
      "is damaged",
      { ...contents, data: {}, binaryData: { one: Buffer.from([0x1f, 0x8b, 8, 0, 0, 1, 2]).toString("base64") } },
      "changes[0]: one in ConfigMap NS/contents is not a JSON object, plain or compressed with gzip",
    ],
    [
      "is nested too deep",
      contentsMap("contents", { one: `{"data":${deep}}` }),
      "changes[0]: one in ConfigMap NS/contents is nested deeper than 500 levels",
    ],
    [
      "names another object",
      contentsMap("contents", { one: configMap("other") }),
      "changes[0]: one in ConfigMap contents: content.metadata.name contradicts target.name: make them the same, or leave content.metadata.name out",
    ],
    [
      "is of another kind",
      contentsMap("contents", { one: { ...made, kind: "Secret" } }),
      "changes[0]: one in ConfigMap contents: content.kind contradicts target.kind: make them the same, or leave content.kind out",
    ],
    [
      "asks for a generated name",
      contentsMap("contents", { one: { metadata: { generateName: "a-" } } }),
      "changes[0]: one in ConfigMap contents: content.metadata.generateName cannot be used: a change needs the exact name of its target; remove it",
    ],
    [
      "is in another namespace",
      contentsMap("contents", { one: { metadata: { namespace: "other" } } }),
      'changes[0]: content.metadata.namespace of ConfigMap NS/made is "other": remove it, or set target.namespace',
    ],
    [
      "has an unknown field",
      contentsMap("contents", { one: { metadata: { label: {} } } }),
      'changes[0]: content of ConfigMap NS/made: unknown field "metadata.label"',
    ],
    [
      "has a number where a text belongs",
      contentsMap("contents", { one: { data: { port: 4711 } } }),
      "changes[0]: content of ConfigMap NS/made: .data.port is a number: put it in quotes",
    ],
    [
      "is larger than the controller can take",
      zippedMap("contents", { one: JSON.stringify({ data: { a: "x".repeat(9 * 2 ** 20) } }) }),
      "changes[0]: one in ConfigMap NS/contents is larger than 8 MiB",
    ],
  ])("is refused with nothing touched where it %s", async (_, object, message) => {
    const place = await workspace();
    const { hook, requests } = recording();
    if (object !== undefined) await place.create(object);
    await place.janus(hook);
    const txn = await place.run([change]);
    expect(txn.status.phase).toBe("Failed");
    expect(messageOf(txn)).toBe(`no changes were applied: ${message.replace("NS", place.namespace)}`);
    expect(requests.filter(({ purpose }) => purpose === "change" || purpose === "dry-run")).toEqual([]);
    expect(await place.exists(made)).toBe(false);
  });

  it("is refused where the ServiceAccount must not read it: nobody reads Secrets through Janus", async () => {
    const place = await workspace();
    await place.create(
      role("some", { apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }),
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "weak" } },
      roleBinding("some", "Role", "some", `${place.namespace}/weak`),
      contentsSecret("contents", { one: made }),
    );
    await place.janus();
    const txn = await place.run([from(creating(made), contentsSecret("contents", {}), "one")], {
      serviceAccountName: "weak",
    });
    expect(messageOf(txn)).toBe(
      `no changes were applied: changes[0]: ServiceAccount weak may not read Secret ${place.namespace}/contents: grant it the verb get on secrets in namespace ${place.namespace}`,
    );
  });

  it("may not be larger with the others than 8 MiB", async () => {
    const place = await workspace();
    const objects = [0, 1, 2].map((n) => zippedMap(`contents-${n}`, { one: { data: { a: "x".repeat(3 * 2 ** 20) } } }));
    await place.create(...objects);
    await place.janus();
    const txn = await place.run(objects.map((object, n) => from(creating(configMap(`made-${n}`)), object, "one")));
    expect(messageOf(txn)).toContain(
      "the contents of the Transaction are larger than 8 MiB together: split it into smaller Transactions",
    );
  });

  it("is not replaced by another one after it was recorded: what was applied is rolled back", async () => {
    const place = await workspace();
    const [first, second] = [configMap("first", { value: "1" }), configMap("second", { value: "2" })];
    const object = contentsMap("contents", { first, second });
    await place.create(object);
    await diesAfter(1, place, [from(creating(first), object, "first"), from(creating(second), object, "second")]);
    await place.remove(object);
    await place.create(contentsMap("contents", { first, second: configMap("second", { value: "theirs" }) }));
    await place.janus();
    const txn = await place.over();
    expect(txn.status.phase).toBe("RolledBack");
    expect(messageOf(txn)).toContain(
      `ConfigMap ${place.namespace}/contents is another one, or has other data, than when the Transaction was accepted: create a new Transaction`,
    );
    expect(await place.exists(first)).toBe(false);
    expect(await place.exists(second)).toBe(false);
  });

  it("is not needed to roll back", async () => {
    const place = await workspace();
    await place.create(configMap("patched", { value: "old" }), configMap("updated", { value: "old", more: "x" }));
    const before = await place.read(configMap("patched"));
    const object = contentsMap("contents", {
      made,
      patched: { data: { value: "new" } },
      updated: { data: { value: "new" } },
      last: configMap("last"),
    });
    await place.create(object);
    await diesAfter(3, place, [
      from(creating(made), object, "made"),
      from(patching(configMap("patched")), object, "patched"),
      from(updating(configMap("updated")), object, "updated"),
      from(creating(configMap("last")), object, "last"),
    ]);
    await place.remove(object);
    await place.janus();
    const txn = await place.over();
    expect([txn.status.phase, messageOf(txn)]).toMatchObject([
      "RolledBack",
      expect.stringContaining("not found") as string,
    ]);
    expect(await place.exists(made)).toBe(false);
    expect((await place.read(configMap("updated")))["data"]).toEqual({ value: "old", more: "x" });
    const after = await place.read(configMap("patched"));
    expect(after["data"]).toEqual({ value: "old" });
    expect(after.metadata.managedFields).toEqual(before.metadata.managedFields);
  });
});

describe("what is approved", () => {
  it("covers contents: with other ones it is not executed", async () => {
    const place = await workspace();
    await place.create(contents, configMap("gone"));
    await place.janus();
    await place.submit([change, deleting(configMap("gone"))], { lifecycle: "Draft" });
    const digestOf = async () =>
      ((await place.txn()).status as { readonly render?: { readonly digest?: string } } | undefined)?.render?.digest;
    await expect.poll(digestOf).toMatch(/^sha256:/u);
    const digest = await digestOf();
    await place.remove(contents);
    await place.create(contentsMap("contents", { one: configMap("made", { a: "2" }) }));
    await place.patch({ ...transaction("txn"), spec: { lifecycle: "Published", approvedDigest: digest } });
    const txn = await place.over();
    expect(txn.status.phase).toBe("Failed");
    expect(messageOf(txn)).toContain("what would be done is not what was approved");
    expect(await place.exists(made)).toBe(false);
  });

  it("is executed with contents that were created again, and are the same", async () => {
    const place = await workspace();
    await place.create(contents);
    await place.janus();
    await place.submit([change], { lifecycle: "Draft" });
    const digestOf = async () =>
      ((await place.txn()).status as { readonly render?: { readonly digest?: string } } | undefined)?.render?.digest;
    await expect.poll(digestOf).toMatch(/^sha256:/u);
    const digest = await digestOf();
    await place.remove(contents);
    await place.create(contents);
    await place.patch({ ...transaction("txn"), spec: { lifecycle: "Published", approvedDigest: digest } });
    expect((await place.over()).status.phase).toBe("Committed");
  });
});
