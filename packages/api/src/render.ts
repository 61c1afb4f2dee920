// The codec of status.render: the fields that each change of a Draft would set, and the digest to approve.
import { described, integer, oneOf, optional, satisfying, string, type TypeOf } from "./codec.ts";
import { MAX_CHANGES } from "./limits.ts";
import { list, object } from "./structure.ts";
import { text } from "./text.ts";

export const CHANGE_RESULTS = [
  "Create",
  "Change",
  "NoChange",
  "Replace",
  "Delete",
  "Refused",
  "DependsOnEarlier",
] as const;

/** Shown instead of a value of a Secret, or of another kind that is sensitive. */
export const CONCEALED = "(changed)";

/** A field that a change would set, remove or replace. */
export const FieldDifference = object({
  path: described('Path of the field, such as .spec.containers[name="web"].image.', text(512)),
  before: optional(
    described(
      "Its value in the target, as JSON, shortened; absent if the target does not have it. (changed) in a Secret and in other sensitive kinds.",
      text(256),
    ),
  ),
  after: optional(
    described("Its value after the change, in the same way; absent if the change removes it.", text(256)),
  ),
});
export interface FieldDifference extends TypeOf<typeof FieldDifference> {}

/** The effect that one change would have. */
export const RenderedChange = object({
  result: described(
    "Create, Change, Replace or Delete: what would be done to the target. NoChange: the target is so already. Refused: the change would fail. DependsOnEarlier: it is known only after an earlier change is applied.",
    oneOf(...CHANGE_RESULTS),
  ),
  message: optional(described("Why the change would fail, and what to do.", text(256))),
  resourceVersion: optional(
    described(
      "resourceVersion of the target that the change was compared with; absent if there was none.",
      string({ maxLength: 253 }),
    ),
  ),
  diff: optional(
    described(
      "Fields that would change, as far as there is room.",
      list(FieldDifference, { atomic: true }, { maxItems: 1000 }),
    ),
  ),
  more: optional(described("Number of further fields that would change, for which there was no room.", integer)),
});
export interface RenderedChange extends TypeOf<typeof RenderedChange> {}

export const Digest = satisfying(string({ maxLength: 71 }), {
  cel: "self.matches('^sha256:[0-9a-f]{64}$')",
  message: "must be a digest as in status.render.digest: sha256: and 64 hexadecimal digits",
  holds: (digest) => /^sha256:[0-9a-f]{64}$/u.test(digest),
});

/** The effect that a Draft or a proposed Transaction would have if it was executed. */
export const Render = object({
  observedGeneration: described(
    "metadata.generation that was rendered. The render is current only if it is that of the Transaction.",
    integer,
  ),
  renderedAt: described("When it was rendered.", string({ maxLength: 64 })),
  result: described("OK, or Problems: the Transaction would fail, with no changes applied.", oneOf("OK", "Problems")),
  message: optional(described("Why it would fail, and what to do.", text(2048))),
  digest: optional(
    described(
      "Digest of what was rendered: of spec, and of what it would do to each target. For spec.approvedDigest. Absent with Problems.",
      Digest,
    ),
  ),
  changes: optional(
    described(
      "What each change would do, in the order of spec.changes. Absent if none could be tried.",
      list(RenderedChange, { atomic: true }, { maxItems: MAX_CHANGES }),
    ),
  ),
});
export interface Render extends TypeOf<typeof Render> {}

/** The last observation of a Transaction before it was published. */
export const ObservedDraft = object({
  generation: described("metadata.generation that was observed last.", integer),
  lifecycle: described("spec.lifecycle that was observed last.", oneOf("Draft", "Proposed", "Published")),
  content: described("Digest of spec without the lifecycle: another one means that it was edited.", Digest),
  since: described("When it was observed first, which spec.draftTTL counts from.", string({ maxLength: 64 })),
});
export interface ObservedDraft extends TypeOf<typeof ObservedDraft> {}
