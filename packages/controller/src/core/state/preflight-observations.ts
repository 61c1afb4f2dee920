// The observations of one change before the first change is made.
import type { FieldDifference, RenderedChange } from "@janus/api";
import type { KubeObject } from "@janus/types";
import type { Path } from "../merge/field-set.ts";

/** Observations by this process of one change before any is made. */
export interface PreflightObservations {
  /** Whether the target of an Apply existed before it was locked. */
  readonly existedAtFirst?: boolean | undefined;
  /** Whether the ServiceAccount may do what the change and its rollback do to the target, by verb. */
  readonly permissions?: ReadonlyMap<string, "allowed" | "denied"> | undefined;
  /** Read with `trialIn`: it says nothing of another version of the target. */
  readonly trial?: Trial | undefined;
  /** Whether the ServiceAccount may not grant again the permissions that the change removes, in this state of the target. */
  readonly regrant?: { readonly resourceVersion: string | undefined; readonly isDenied: boolean } | undefined;
  /** The loss of it that a write in the version that the change names would cause. */
  readonly otherVersions?: OtherVersions | undefined;
}

/** The outcome of its dry run, or why there was none. */
export interface Trial {
  /** The resourceVersion of the target that it was tried on; undefined if there was none. */
  readonly of: string | undefined;
  /** Problems that are in the way of the change; empty: none. */
  readonly problems: readonly string[];
  /** The fields that the objects of a CustomResourceDefinition get. Absent: none. */
  readonly addedFields?: readonly Path[];
  /** The part of the result that is shown, of a render, and where one is approved. */
  readonly shown?: DryRunResult | undefined;
  /** The result, of a preview. */
  readonly object?: KubeObject;
}

/** What is kept of a dry run besides its problems, if anything: what is shown of its result, or the object. */
export type KeepDryRun = "nothing" | "result" | "object";

/** The object in other versions of its kind. */
export interface OtherVersions {
  /** The resourceVersion of the object that was read in its own. */
  readonly resourceVersion: string | undefined;
  /** Versions by apiVersion. */
  readonly versions: ReadonlyMap<string, OtherVersion>;
}

/**
 * differs: it has fields that it has not in its own; whether they would be lost is to be tried.
 * richer: it would lose these fields, in words. unreadable: why it cannot be read there. denied: the ServiceAccount may not try
 * that (yet).
 */
export type OtherVersion =
  | { readonly type: "same" }
  | { readonly type: "differs"; readonly there: KubeObject }
  | { readonly type: "richer"; readonly fields: string }
  | { readonly type: "unreadable"; readonly why: string }
  | { readonly type: "denied" };

/** The result that a dry run has shown, without the objects. */
export interface DryRunResult {
  readonly result: RenderedChange["result"];
  /** The first fields that differ, and how many more do. */
  readonly diff: readonly FieldDifference[];
  readonly more: number;
  /** A hash over all of it, and of the content of what is deleted. */
  readonly hash: string;
  /** How much memory the target took. */
  readonly bytes: number;
}
