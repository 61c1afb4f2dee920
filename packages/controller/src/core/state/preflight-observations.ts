// The observations of one change before the first change is made.
import type { FieldDifference, RenderedChange } from "@janus/api";
import type { KubeObject } from "@janus/types";
import type { Path } from "../merge/field-set.ts";

/** What this process has learned of one change before any is made. */
export interface PreflightObservations {
  /** Of an Apply: whether the target existed before it was locked. */
  readonly existedAtFirst?: boolean | undefined;
  /** Whether the ServiceAccount may do what the change and its rollback do to the target, by verb. */
  readonly permissions?: ReadonlyMap<string, "allowed" | "denied"> | undefined;
  /** Read with `trialIn`: it says nothing of another version of the target. */
  readonly trial?: Trial | undefined;
  /** Whether the ServiceAccount may not grant again the permissions that the change removes, in this state of the target. */
  readonly regrant?: { readonly resourceVersion: string | undefined; readonly isDenied: boolean } | undefined;
  /** What a write in the version that the change names would lose of it. */
  readonly otherVersions?: OtherVersions | undefined;
}

/** What its dry run came to, or why there was none. */
export interface Trial {
  /** The resourceVersion of the target that it was tried on; undefined if there was none. */
  readonly of: string | undefined;
  /** What is in the way of the change; empty: nothing. */
  readonly problems: readonly string[];
  /** Of a CustomResourceDefinition: the fields that its objects get. Absent: none. */
  readonly addedFields?: readonly Path[];
  /** Of a render, and where one is approved: what is shown of the result. */
  readonly shown?: DryRunResult | undefined;
  /** Of a preview: the result. */
  readonly object?: KubeObject;
}

/** What a target is in other versions of its kind. */
export interface OtherVersions {
  /** Of the object that was read in its own. */
  readonly resourceVersion: string | undefined;
  /** By apiVersion. */
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

/** What a dry run has shown, without the objects. */
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
