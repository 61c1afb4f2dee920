// The Transaction of a phase: where it is, what is asked of it, and how far it has come.
import { API_VERSION, formatDuration, GROUP, KIND, PLURAL, transactions } from "@janus/api";
import { asObject, type Json, type JsonObject, type KubeObject } from "@janus/types";
import { ACTION_SET_UID } from "../../api/names.ts";
import { shortHash } from "../names.ts";
import type { Access, PhaseContext } from "../phase-context.ts";
import type { ObjectRef } from "../requests.ts";

/** The permissions that the ServiceAccount needs, beside those of the changes. */
export const transactionAccess = (namespace: string): readonly Access[] =>
  ["create", "get", "patch", "delete"].map((verb) => ({ verb, group: GROUP, resource: PLURAL, namespace }));

/** @param attempt that made it, see {@link attemptOf} */
export const transactionRef = (namespace: string, attempt: string): ObjectRef => ({
  resource: transactions,
  namespace,
  name: `kanister-${shortHash(attempt)}`,
});

/** The member of what a phase remembers with the uid of its Transaction: only what has one was ever published. */
export const TRANSACTION = "transaction";

export const transactionUid = (remembered: JsonObject = {}): string | undefined => {
  const uid = remembered[TRANSACTION];
  return typeof uid === "string" ? uid : undefined;
};

/** The time for which it can be rolled back if nobody ends that, and is then kept, in ms: longer than any action takes. */
const WINDOW = 30 * 24 * 3_600_000;

/** The life of a Draft that was created late, and is never published, in ms. */
const DRAFT_TTL = 24 * 3_600_000;

/** The time that it may take longer than its phase, in ms: the phase ends it, or else the Transaction itself. */
const MARGIN = 60_000;

/** A Draft: it changes nothing until it is published. */
export const transactionSpec = (
  { serviceAccount, timeout }: Pick<PhaseContext, "serviceAccount" | "timeout">,
  changes: readonly JsonObject[],
): JsonObject => ({
  serviceAccountName: serviceAccount,
  lifecycle: "Draft",
  draftTTL: formatDuration(DRAFT_TTL),
  deletionPolicy: "Rollback",
  rollbackWindow: formatDuration(WINDOW),
  ttlSecondsAfterFinished: WINDOW / 1000,
  ...(timeout === undefined ? {} : { timeout: formatDuration(timeout + MARGIN) }),
  changes,
});

export const transactionOf = (uid: string, spec: JsonObject): KubeObject => ({
  apiVersion: API_VERSION,
  kind: KIND,
  metadata: { labels: { [ACTION_SET_UID]: uid } },
  spec,
});

export type Progress =
  /** A Transaction that is not published: it has changed nothing. */
  | { readonly type: "draft" }
  | { readonly type: "active" | "rolling-back"; readonly message: string }
  | { readonly type: "committed" }
  /** A Transaction that can no longer be rolled back. */
  | { readonly type: "final"; readonly message: string }
  /** exceptions: what is not as it was before. */
  | { readonly type: "rolled-back"; readonly cause: string; readonly exceptions?: string }
  | { readonly type: "unchanged"; readonly cause: string }
  | { readonly type: "incomplete"; readonly cause: string; readonly message: string };

type Condition = Readonly<Record<"status" | "reason" | "message", string>>;

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const conditionIn = (status: JsonObject, type: string): Condition => {
  const all = Array.isArray(status["conditions"]) ? status["conditions"].map(asObject) : [];
  const found = all.find((one) => one["type"] === type) ?? {};
  return { status: text(found["status"]), reason: text(found["reason"]), message: text(found["message"]) };
};

/** The beginning of the message of a Transaction that is RolledBack, but not wholly. */
const EXCEPT = "rolled back, except for";

/** Reads how far the Transaction is, from its phase and conditions. */
export const progressOf = (transaction: KubeObject): Progress => {
  const status = asObject(transaction["status"]);
  const { message } = conditionIn(status, "Ready");
  const { message: cause } = conditionIn(status, "Committed");
  if (asObject(transaction["spec"])["lifecycle"] !== "Published") return { type: "draft" };
  switch (text(status["phase"])) {
    case "Committed": {
      const reversible = conditionIn(status, "Reversible");
      return reversible.status === "True" ? { type: "committed" } : { type: "final", message: reversible.message };
    }
    case "RolledBack":
      return { type: "rolled-back", cause, ...(message.startsWith(EXCEPT) ? { exceptions: message } : {}) };
    case "Failed":
      return conditionIn(status, "RolledBack").reason === "NoChangesApplied"
        ? { type: "unchanged", cause: message }
        : { type: "incomplete", cause, message };
    case "RollingBack":
      return { type: "rolling-back", message };
    default:
      return { type: "active", message };
  }
};
