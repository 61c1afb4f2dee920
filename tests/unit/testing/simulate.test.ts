import { simulate } from "@janus/testing";
import { describe, expect, it } from "vitest";
import { CHANGES, CONFIG, LIVE, OTHER, transactionOf, WEB } from "./shop.ts";

const RELEASE = transactionOf(CHANGES);
const THERE = [...LIVE, OTHER];

const denied = (verb: string, kind: string): string =>
  simulate(RELEASE, THERE, { denied: [{ verbs: [verb], kind }] }).problems.join();

const status = (available: string) => () => ({ conditions: [{ type: "Available", status: available }] });

const edit = (before: number | "rollback", data: object) => ({ before, target: CONFIG, patch: { data } });

const named = (objects: readonly { readonly kind: string; readonly metadata: { readonly name: string } }[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe("a Transaction that succeeds", () => {
  const result = simulate(RELEASE, THERE);

  it("is Committed, with every change Applied in its order", () => {
    expect(result).toMatchObject({ phase: "Committed", problems: [], applied: [0, 1, 2, 3, 4], rolledBack: [] });
    expect(result.items.map(({ state }) => state)).toEqual(CHANGES.map(() => "Applied"));
  });

  it("does the same whatever digest was approved, which is of the objects of a cluster", () => {
    const approved = transactionOf(CHANGES, { approvedDigest: `sha256:${"0".repeat(64)}` });
    expect(simulate(approved, THERE)).toEqual(result);
  });

  it.each(["Draft", "Proposed"])("does the same as a %s, which runs as it would once it is published", (lifecycle) => {
    const draft = transactionOf(CHANGES, { lifecycle });
    expect(simulate(draft, THERE)).toEqual(result);
  });

  it("leaves the objects as the changes ask for", () => {
    expect(named(result.objects)).toEqual(["ConfigMap app", "Deployment web", "ConfigMap other", "Secret key"]);
    expect(result.objects[0]).toMatchObject({ data: { version: "2", colour: "blue" } });
    expect(result.objects[2]).toMatchObject({ data: { a: "2" }, metadata: { annotations: { note: "n" } } });
    expect(result.objects[3]).toMatchObject({ data: { token: "dA==" } });
  });

  it("merges lists by their keys", () => {
    const containers = [
      {
        name: "web",
        image: "web:2",
        env: [{ name: "A", value: "1" }],
        ports: [{ containerPort: 80, protocol: "TCP" }],
      },
      { name: "sidecar", image: "sidecar:1" },
    ];
    expect(result.objects[1]).toMatchObject({ spec: { template: { spec: { containers } } } });
  });

  it("asks for each write as a dry run first, all as the ServiceAccount", () => {
    const writes = result.requests.filter(({ verb }) => verb !== "get");
    const dry = writes.filter(({ dryRun }) => dryRun);
    const made = writes.filter(({ dryRun }) => !dryRun);
    expect(writes).toEqual([...dry, ...made]);
    expect(made.map(({ verb, target: { name } }) => `${verb} ${name}`)).toEqual([
      "apply app",
      "create key",
      "apply web",
      "delete old",
      "update other",
    ]);
    expect(new Set(result.requests.map(({ as }) => as))).toEqual(new Set(["system:serviceaccount:shop:deployer"]));
  });

  it("tells the events and conditions that users see", () => {
    expect(result.events.at(-1)).toEqual({
      type: "Normal",
      reason: "PhaseTransition",
      message: "Committing → Committed: all 5 changes are applied",
    });
    expect(result.conditions.find(({ type }) => type === "Ready")).toMatchObject({ status: "True" });
  });
});

describe.each(CHANGES.map((_, index) => index))(
  "a Transaction whose changes[%i] is refused when it is made",
  (failAt) => {
    const result = simulate(RELEASE, THERE, { failAt });

    it("is RolledBack, and all objects are as before", () => {
      expect(result.phase).toBe("RolledBack");
      expect(result.objects).toEqual(result.before);
    });

    it("rolls back the changes before it, the last one first", () => {
      const before = CHANGES.map((_, index) => index).slice(0, failAt);
      expect(result.applied).toEqual(before);
      expect(result.rolledBack).toEqual(before.toReversed());
      expect(result.items[failAt]).toMatchObject({ state: "NotApplied" });
      // As a real controller, it shows no text of an error of a Secret.
      const isSecret = JSON.stringify(CHANGES[failAt]).includes('"kind":"Secret"');
      const said = isSecret ? "Forbidden (the message is not shown" : `changes[${failAt}] is refused by the simulation`;
      expect(result.items[failAt]?.error).toContain(said);
    });
  },
);

it("answers with the code and the words that the test wants", () => {
  const { items } = simulate(RELEASE, THERE, { failAt: { change: 0, code: 422, message: "no such colour" } });
  expect(items[0]?.error).toBe("the API server refused to patch ConfigMap shop/app: no such colour");
});

it("sends a change again that is answered with 503, until spec.timeout", () => {
  const result = simulate(transactionOf(CHANGES, { timeout: "5m" }), THERE, { failAt: { change: 1, code: 503 } });
  expect(result.phase).toBe("RolledBack");
  expect(result.conditions.find(({ type }) => type === "Ready")?.message).toContain("timeout");
  expect(result.objects).toEqual(result.before);
});

describe("a Transaction that is refused", () => {
  it("says what the API server says of its manifest", () => {
    const result = simulate(transactionOf([{ type: "Patch", target: { ...CONFIG, name: "" }, content: {} }]), THERE);
    expect(result).toMatchObject({ phase: "Pending", requests: [] });
    expect(result.problems[0]).toMatch(/^spec\.changes\[0\]\.target\.name: /);
    expect(result.objects).toEqual(result.before);
  });

  it("says what the controller says of its changes, all at once", () => {
    const result = simulate(
      transactionOf([
        { type: "Create", target: CONFIG, content: {} },
        { type: "Delete", target: { ...CONFIG, name: "none" } },
      ]),
      THERE,
    );
    expect(result).toMatchObject({ phase: "Failed", applied: [] });
    expect(result.problems).toEqual([
      "changes[0]: ConfigMap shop/app exists already: use Update or Patch, or delete it in an earlier Transaction",
      "changes[1]: ConfigMap shop/none not found: remove this change",
    ]);
    expect(result.objects).toEqual(result.before);
  });

  it("says which permission its ServiceAccount lacks, also for the rollback", () => {
    expect(denied("patch", "ConfigMap")).toContain("cannot patch resource");
    expect(denied("create", "Service")).toContain(
      "may not roll back Service shop/old: grant it the verb create on services",
    );
    expect(denied("get", "Secret")).toContain("cannot be read");
  });

  it("says that Kubernetes has no such kind", () => {
    const target = { apiVersion: "apps/v1", kind: "Deploymnt", name: "web" };
    const { problems } = simulate(transactionOf([{ type: "Delete", target }]), THERE);
    expect(problems[0]).toContain("does not serve Deploymnt in apps/v1");
  });
});

describe("gates", () => {
  const changes = [
    { type: "Patch", target: WEB, content: { spec: { replicas: 2 } }, waitFor: ["ready"] },
    { type: "Patch", target: CONFIG, content: { data: { version: "2" } } },
  ];

  it("are met by default", () => {
    const result = simulate(transactionOf(changes), THERE);
    expect(result).toMatchObject({ phase: "Committed", applied: [0, 1] });
    expect(result.events.map(({ reason }) => reason)).toContain("GateMet");
  });

  it("roll back what does not get ready, and the next change is never made", () => {
    const result = simulate(transactionOf(changes), THERE, { notReady: [WEB] });
    expect(result).toMatchObject({ phase: "RolledBack", applied: [0], rolledBack: [0] });
    expect(result.items[0]).toMatchObject({ gateFailed: true });
    expect(result.items[0]?.error).toContain("waitFor was not met: ready");
    expect(result.objects).toEqual(result.before);
  });

  it("are waited for when all changes are made, with waitAt End", () => {
    const atEnd = transactionOf(changes, { waitAt: "End" });
    expect(simulate(atEnd, THERE)).toMatchObject({ phase: "Committed", applied: [0, 1] });
    const result = simulate(atEnd, THERE, { notReady: [WEB] });
    expect(result).toMatchObject({ phase: "RolledBack", applied: [0, 1], rolledBack: [1, 0] });
    expect(result.objects).toEqual(result.before);
  });

  it("look at the status that the test gives", () => {
    const [first = {}, second = {}] = changes;
    const gated = transactionOf([{ ...first, waitFor: ["condition=Available"] }, second]);
    expect(simulate(gated, THERE, { ready: status("True") }).phase).toBe("Committed");
    expect(simulate(gated, THERE, { ready: status("False") }).phase).toBe("RolledBack");
  });

  it("look at the default status of what the test gives none", () => {
    expect(simulate(transactionOf(changes), THERE, { ready: () => undefined }).phase).toBe("Committed");
  });
});

describe("edits of other clients", () => {
  it("are kept by a rollback", () => {
    const result = simulate(RELEASE, THERE, { failAt: 4, edits: [edit("rollback", { colour: "red" })] });
    expect(result.phase).toBe("RolledBack");
    expect(result.objects[0]).toMatchObject({ data: { version: "1", colour: "red" } });
  });

  it("of a field that was changed are conflicts, which the item names", () => {
    const result = simulate(RELEASE, THERE, { failAt: 4, edits: [edit(2, { version: "9" })] });
    expect(result.items[0]?.error).toContain('"another-client"');
    expect(result.objects[0]).toMatchObject({ data: { version: "9", colour: "blue" } });
    expect(result.objects.slice(1)).toEqual(result.before.slice(1));
  });

  it("may delete a target that was changed: there is nothing left to restore", () => {
    const result = simulate(RELEASE, THERE, { failAt: 4, edits: [{ before: 4, target: WEB, patch: null }] });
    expect(result.phase).not.toBe("Committed");
    expect(named(result.objects)).not.toContain("Deployment web");
    expect(result.objects).toEqual(result.before.filter(({ kind }) => kind !== "Deployment"));
  });
});

it("reports all requests on request: the locks come before the first change", () => {
  const { requests } = simulate(RELEASE, THERE, { requests: "all" });
  const leases = requests.findLastIndex(({ verb, target }) => verb === "create" && target.kind === "Lease");
  const first = requests.findIndex(({ purpose }) => purpose === "change");
  expect(leases).toBeGreaterThan(0);
  expect(leases).toBeLessThan(first);
});

it("the same input gives the same result", () => {
  expect(simulate(RELEASE, THERE, { failAt: 2, requests: "all" })).toEqual(
    simulate(RELEASE, THERE, { failAt: 2, requests: "all" }),
  );
});

it("removes in an Apply what an earlier one has set, by the managedFields of the live object, and brings it back", () => {
  const managedFields = [
    {
      manager: "janus-apply:v0-00000000-0000-4000-8000-000000000000",
      operation: "Apply",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:version": {}, "f:old": {} } },
    },
  ];
  const data = { version: "1", old: "yes" };
  const { name, ...kind } = CONFIG;
  const live = [{ ...kind, metadata: { name, managedFields }, data }, OTHER];
  const change = { type: "Apply", target: CONFIG, content: { data: { version: "2" } } };
  expect(simulate(transactionOf([change]), live).objects[0]?.["data"]).toEqual({ version: "2" });
  const creating = { type: "Create", target: { ...CONFIG, name: "new" }, content: {} };
  const failed = simulate(transactionOf([change, creating]), live, { failAt: 1 });
  expect([failed.phase, failed.objects[0]?.["data"]]).toEqual(["RolledBack", data]);
});

const from = (key: string) => ({ contentFrom: { configMapKeyRef: { name: "contents", key } } });

describe("contents that are in ConfigMaps and Secrets", () => {
  const definition = {
    spec: {
      group: "example.com",
      scope: "Cluster",
      names: { kind: "Thing", plural: "things" },
      versions: [{ name: "v1", served: true, storage: true }],
    },
  };
  const data = { config: '{"data":{"a":"1"}}', definition: JSON.stringify(definition) };
  const contents = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "contents" }, immutable: true, data };
  const txn = transactionOf([
    { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "made" }, ...from("config") },
    {
      type: "Create",
      target: {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        name: "things.example.com",
      },
      ...from("definition"),
    },
    { type: "Create", target: { apiVersion: "example.com/v1", kind: "Thing", name: "one" }, content: {} },
  ]);

  it("are those of the live objects", () => {
    const { phase, objects } = simulate(txn, [contents]);
    expect(phase).toBe("Committed");
    expect(objects.find(({ metadata }) => metadata.name === "made")).toMatchObject({ data: { a: "1" } });
    expect(objects.find(({ kind }) => kind === "Thing")?.metadata).toEqual({ name: "one" });
  });

  it("are rolled back", () => {
    const { phase, objects, before } = simulate(txn, [contents], { failAt: 2 });
    expect(phase).toBe("RolledBack");
    expect(objects).toEqual(before);
  });

  it("fail the Transaction where they are missing", () => {
    const { phase, problems } = simulate(txn, []);
    expect(phase).toBe("Failed");
    expect(problems.join()).toContain("contents not found: create it, with immutable: true");
  });
});
