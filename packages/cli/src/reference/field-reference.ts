// Generates the reference page of all fields from the CustomResourceDefinition.
import type { JsonObject } from "@janus/api";

type Schema = Readonly<Record<string, unknown>>;

export const asSchema = (value: unknown): Schema => (typeof value === "object" && value !== null ? { ...value } : {});

const asTexts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** `string`, `string: Release, Rollback`, `list of string, at most 8`. */
const typeOf = (schema: Schema): string => {
  const { type, items, enum: values, format, maxItems, minItems, additionalProperties } = schema;
  if (items !== undefined) {
    const limits = [
      ...(typeof minItems === "number" ? [`at least ${minItems}`] : []),
      ...(typeof maxItems === "number" ? [`at most ${maxItems}`] : []),
    ];
    return [`list of ${typeOf(asSchema(items))}`, ...limits].join(", ");
  }
  if (additionalProperties !== undefined) return `map of ${typeOf(asSchema(additionalProperties))}`;
  const name = `${String(type)}${typeof format === "string" ? ` (${format})` : ""}`;
  return values === undefined ? name : `${name}: ${asTexts(values).join(", ")}`;
};

/** Escapes the text for a cell of a table. */
const cell = (text: string): string =>
  text.replaceAll("|", String.raw`\|`).replaceAll("<", "&lt;").replaceAll("\n", " ");

const defaultOf = ({ default: value }: Schema): string => {
  if (value === undefined) return "";
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
};

/** The rows of the fields below this one, each field followed by its own. */
const rows = (schema: Schema, path: string): readonly string[] => {
  const { properties, required, items } = schema;
  if (items !== undefined) return rows(asSchema(items), `${path}[]`);
  const needed = asTexts(required);
  return Object.entries(asSchema(properties)).flatMap(([name, value]) => {
    const field = asSchema(value);
    const there = path === "" ? name : `${path}.${name}`;
    const described = [field["description"], asSchema(field["items"])["description"]].find(
      (text) => typeof text === "string",
    );
    const needs = needed.includes(name) ? "**Required.** " : "";
    const text = `${needs}${typeof described === "string" ? described : ""}`.trim();
    return [
      `| \`${there}\` | ${cell(typeOf(field))} | ${cell(defaultOf(field))} | ${cell(text)} |`,
      ...rows(field, there),
    ];
  });
};

export const tableOf = (schema: Schema, path: string): readonly string[] => [
  "| Field | Type | Default | Description |",
  "|---|---|---|---|",
  ...rows(schema, path),
  "",
];

/** The rules that the API server checks with CEL, in the order of the schema, each once. */
const rulesIn = (schema: unknown): readonly string[] => {
  if (Array.isArray(schema)) return schema.flatMap(rulesIn);
  return Object.entries(asSchema(schema)).flatMap(([name, value]) => {
    if (name !== "x-kubernetes-validations") return typeof value === "object" && value !== null ? rulesIn(value) : [];
    return Array.isArray(value) ? value.map((rule) => String(asSchema(rule)["message"])) : [];
  });
};

/** A line for each rule that the API server checks with CEL. */
export const refusalsIn = (schema: unknown): readonly string[] =>
  [...new Set(rulesIn(schema))].map((rule) => `- ${cell(rule)}`);

/** The page of all fields of a CustomResourceDefinition. Its first version is described. */
export const fieldReference = (crd: JsonObject): string => {
  const { group, names, versions } = asSchema(crd["spec"]);
  const [version] = Array.isArray(versions) ? versions : [];
  const { name, schema } = asSchema(version);
  const { kind, shortNames } = asSchema(names);
  const whole = asSchema(asSchema(schema)["openAPIV3Schema"]);
  const { spec, status } = asSchema(whole["properties"]);
  return [
    "<!-- Printed from packages/api/src: change it there, and run `npm run reference:write`. -->",
    "",
    `# Reference of ${String(kind)}`,
    "",
    `\`${String(group)}/${String(name)}\`, kind \`${String(kind)}\`, short name \`${asTexts(shortNames).join("`, `")}\`. ${String(whole["description"])}`,
    "Where there is no default, the field may be left out, unless it is required. `kubectl explain txn.spec` prints the same.",
    "",
    "## Spec",
    "",
    ...tableOf(asSchema(spec), "spec"),
    "## What the API server refuses",
    "",
    "With these messages, when a Transaction is created or changed:",
    "",
    ...refusalsIn(whole),
    "",
    "## Status",
    "",
    "Written by the controller only.",
    "",
    ...tableOf(asSchema(status), "status"),
  ].join("\n");
};
