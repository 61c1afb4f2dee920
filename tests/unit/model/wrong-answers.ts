import type { ApiCall, ApiError } from "@janus/controller";

type Refused = Extract<ApiError, { type: "refused" }>;

const refused = (code: number, reason: string, message: string): Refused => ({
  type: "refused",
  code,
  reason,
  message,
  causes: [],
});

/** Refusals that something between us and the API server may come up with, whatever was asked and whatever was done. */
const REFUSALS: readonly Refused[] = [
  refused(403, "Forbidden", "is forbidden"),
  { ...refused(404, "NotFound", 'widgets.example.com "stranger" not found'), notFound: "other" },
  refused(409, "Conflict", "the object has been modified"),
  refused(409, "AlreadyExists", "already exists"),
  refused(422, "Invalid", "is invalid"),
];

/**
 * Those of them that can come of such a request: what is only read is in nobody's way. Nor does anybody know that a deletion was
 * made, and not another client's, where the API server itself says that the object is not as it was.
 */
export const wrongAnswers = ({ call }: ApiCall, isApplied: boolean): readonly ApiError[] =>
  REFUSALS.filter(({ code, reason }) => {
    if (call.verb === "get") return code !== 409;
    return !(call.verb === "delete" && isApplied && reason === "Conflict");
  });
