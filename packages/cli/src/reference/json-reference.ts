// Generates the reference of the JSON that commands print.
import { PHASES, transactionCrd } from "@janus/api";
import { asObject, type JsonObject } from "@janus/types";
import { tableOf } from "./field-reference.ts";

const text = (description: string): JsonObject => ({ type: "string", description });

const fieldOf = (schema: JsonObject, name: string): JsonObject => asObject(asObject(schema["properties"])[name]);

/** The states of a change, in the words of the API. */
const stateOfItem = (): JsonObject => {
  const { versions } = asObject(transactionCrd["spec"]);
  const [version] = Array.isArray(versions) ? versions.map(asObject) : [];
  const status = fieldOf(asObject(asObject(version?.["schema"])["openAPIV3Schema"]), "status");
  return fieldOf(asObject(fieldOf(status, "items")["items"]), "state");
};

const name = text("Name of the Transaction.");
const namespace = text("Its namespace.");
const phase: JsonObject = { type: "string", enum: [...PHASES], description: "As `status.phase`." };
const target = text("The target, as in `status.items`.");

/** A line of what `apply` and others print for each state of a Transaction. */
export const progressSchema = (): JsonObject => ({
  type: "object",
  required: ["namespace", "name", "phase", "items"],
  properties: {
    namespace,
    name,
    phase,
    progress: text("As `status.progress`: changes that are applied, of all."),
    message: text("The message of the condition Ready."),
    items: {
      type: "array",
      description: "By change; empty until the controller has begun.",
      items: {
        type: "object",
        required: ["state"],
        properties: {
          target,
          state: stateOfItem(),
          waitingFor: text("The gate that is waited for; absent if none is."),
        },
      },
    },
  },
});

/** An entry of what `history` prints. */
export const historySchema = (): JsonObject => ({
  type: "object",
  required: ["name", "uid", "fields"],
  properties: {
    name,
    namespace: text("Its namespace; absent if it no longer exists."),
    uid: text("Its uid."),
    phase,
    time: text("When it was completed, or started."),
    requestedBy: text("The user who has created it."),
    approvedBy: text("The user who has published it."),
    change: text("Of an object: the type of the change."),
    state: stateOfItem(),
    unreadable: text(
      "Why this version of kubectl-janus cannot read it: a later one has written it. It has no phase then.",
    ),
    fields: {
      type: "array",
      items: { type: "string" },
      description: "Of an object: its fields that are still as the Transaction has set them, such as `.spec.replicas`.",
    },
  },
});

/** The page of what commands print with `-o json`. */
export const jsonReference = (): string =>
  [
    "<!-- Printed from packages/cli/src/reference: change it there, and run `npm run reference:write`. -->",
    "",
    "# What `kubectl janus` prints with `-o json`",
    "",
    "Phases and states have the names of the [API](api.md#status). `get`, `plan` and `plan --draft` print Transactions as they",
    "are. Later versions may add fields.",
    "",
    "## apply, watch",
    "",
    "An object per line for each state; the last one when the Transaction has finished.",
    "",
    ...tableOf(progressSchema(), ""),
    "## history",
    "",
    "A list of:",
    "",
    ...tableOf(historySchema(), ""),
  ].join("\n");
