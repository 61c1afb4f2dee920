import { transactionCrd } from "@janus/api";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { kubectl, kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { installCrd, transaction } from "./transactions.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

describe("the CRD", () => {
  let applied: Outcome | undefined;
  beforeAll(async () => {
    applied = await installCrd();
  });

  it("is structural, without a warning, and served", async () => {
    expect(applied).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await kubectl("get", "crd", "transactions.backup.janus.io", "-o", "json");
    const { status } = JSON.parse(stdout) as {
      readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
    };
    expect(Object.fromEntries(status.conditions.map(({ type, status }) => [type, status]))).toEqual({
      NamesAccepted: "True",
      Established: "True",
    });
  });

  it("says what every field is for", () => {
    const silent: string[] = [];
    const walk = (path: string, schema: Schema): void => {
      if (path !== "metadata" && (schema.description ?? "") === "") silent.push(path);
      for (const [name, field] of Object.entries({ ...schema.properties, ...schema.items?.properties }))
        walk(`${path}.${name}`.replace(/^\./u, ""), field);
    };
    walk("", schemaOf(transactionCrd));
    expect(silent).toEqual([]);
  });

  it("explains a Transaction as documentation does", async () => {
    // The API server publishes the schema of a CRD some time after it serves the kind.
    const words = await vi.waitFor(async () => {
      const { code, stdout } = await kubectl("explain", "txn.spec.changes");
      expect(code).toBe(0);
      return stdout.replaceAll(/\s+/gu, " ");
    }, 300_000);
    for (const sentence of [
      "The changes, applied one at a time in this order: all of them or none.",
      "Patch sets the fields of the content, removes those that are null, and leaves all others (server-side apply).",
      "enum: Create, Update, Patch, Apply, ....",
      "Applies the change only if the target still has this metadata.resourceVersion",
      "target <Object> -required-",
    ])
      expect(words).toContain(sentence);
  });

  it("shows in 80 columns how far it is and whether it is a Draft, and wide everything, the message last; nobody has seen a new one yet", async () => {
    const namespace = await freshNamespace();
    const change = { type: "Delete", target: { apiVersion: "v1", kind: "Secret", name: "x" } };
    const stdin = JSON.stringify(transaction(namespace, "new", { serviceAccountName: "deploy-sa", changes: [change] }));
    expect(await kubectlWith({ stdin }, "create", "-f", "-")).toMatchObject({ code: 0, stderr: "" });
    const narrow = await kubectl("get", "txn", "-n", namespace);
    expect(narrow.stdout.split("\n")[0]?.split(/\s+/u)).toEqual(["NAME", "PHASE", "PROGRESS", "LIFECYCLE", "AGE"]);
    expect(narrow.stdout.split("\n")[1]).toMatch(/^new\s+Pending\s+Published\s+\d+s$/u);

    const status = {
      phase: "Committed",
      progress: "1/1",
      conditions: [
        {
          type: "Failed",
          status: "False",
          reason: "No",
          message: "not this",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
        {
          type: "Ready",
          status: "True",
          reason: "Yes",
          message: "All is in",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    };
    const patch = ["patch", "txn", "new", "-n", namespace, "--subresource=status", "--type=merge"];
    expect(await kubectl(...patch, "-p", JSON.stringify({ status }))).toMatchObject({ code: 0 });
    const wide = await kubectl("get", "transactions", "-n", namespace, "-o", "wide");
    expect(wide.stdout.split("\n")[0]?.split(/\s+/u)).toEqual([
      "NAME",
      "PHASE",
      "PROGRESS",
      "LIFECYCLE",
      "AGE",
      "SERVICEACCOUNT",
      "REVERSIBLEUNTIL",
      "MESSAGE",
    ]);
    expect(wide.stdout.split("\n")[1]).toMatch(/^new\s+Committed\s+1\/1\s+Published\s+\d+s\s+deploy-sa\s+All is in$/u);
    const inPhase = (phase: string) =>
      kubectl("get", "txn", "-n", namespace, "-o", "name", "--field-selector", `status.phase=${phase}`);
    expect((await inPhase("Committed")).stdout).toContain("/new");
    expect((await inPhase("Failed")).stdout).toBe("");
  });
});

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const schemaOf = (crd: unknown): Schema => {
  const { spec } = crd as {
    readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
  };
  const [version] = spec.versions;
  if (version === undefined) throw new Error("the CRD has no version");
  return version.schema.openAPIV3Schema;
};
