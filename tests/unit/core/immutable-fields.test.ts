import { isImmutable, replaceHint } from "@janus/controller/core/kubernetes/immutable-fields";
import { describe, expect, it } from "vitest";

const target = (kind: string, apiVersion = "v1") => ({ apiVersion, kind, name: "one" });

const JOB = "spec.template: Invalid value: {}: field is immutable";
const CLAIM = "spec: Forbidden: spec is immutable after creation except resources.requests for bound claims";
const SHRUNK = "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity";
const SCOPE = 'spec.scope: Invalid value: "Cluster": field is immutable';

describe("an edit that the API server refuses since a field is immutable", () => {
  it("is told to be a Replace, where another object of that name may have it", () => {
    const change = { type: "Update", target: target("Job", "batch/v1") } as const;
    expect(isImmutable(change, JOB)).toBe(true);
    expect(replaceHint(change, JOB)).toContain("use type Replace (kubectl janus apply --replace)");
  });

  it.each([
    [target("PersistentVolumeClaim"), CLAIM],
    [target("PersistentVolumeClaim"), SHRUNK],
    [target("CustomResourceDefinition", "apiextensions.k8s.io/v1"), SCOPE],
  ])("is not replaced, and told why and what to do, where the deletion of a %o cannot be undone", (of, message) => {
    const change = { type: "Patch", target: of } as const;
    expect(isImmutable(change, message)).toBe(false);
    expect(replaceHint(change, message)).toBe(
      `; a ${of.kind} cannot be replaced, since its deletion cannot be undone: use a new name, or delete it at the end of an earlier Transaction`,
    );
  });

  it.each([
    [{ type: "Create", target: target("PersistentVolumeClaim") } as const, CLAIM],
    [{ type: "Update", target: target("PersistentVolumeClaim") } as const, "exceeded quota: storage"],
  ])("is nothing else: %o, %s", (change, message) => {
    expect(isImmutable(change, message)).toBe(false);
    expect(replaceHint(change, message)).toBe("");
  });
});
