// Generates values.schema.json of the Helm chart.
import { isGroup, type Schema, type Values } from "./value.ts";

const isNullable = (schema: Schema): boolean => Array.isArray(schema["type"]) && schema["type"].includes("null");

/** A JSON schema that accepts these values and no others. A value that is removed with `null` is missing, unless it may be null. */
const schemaOf = (values: Values): Schema => ({
  type: "object",
  additionalProperties: false,
  required: Object.entries(values).flatMap(([name, one]) => (isGroup(one) || !isNullable(one.schema) ? [name] : [])),
  properties: Object.fromEntries(
    Object.entries(values).map(([name, one]) => [
      name,
      isGroup(one)
        ? { description: one.about, ...schemaOf(one.values) }
        : { description: one.about, ...one.schema, default: one.byDefault },
    ]),
  ),
});

/** @param renamed former names, which the templates refuse with the name of today: the schema could only say that they are unknown */
export const valuesSchema = (values: Values, renamed: Readonly<Record<string, string>>): string => {
  const { properties, ...schema } = schemaOf(values);
  // Helm itself adds it if the chart is a dependency of another one.
  const global = { description: "Not used.", type: "object" };
  const former = Object.fromEntries(
    Object.entries(renamed).map(([name, now]) => [name, { description: `Not used: it is called ${now}.` }]),
  );
  const whole = {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...schema,
    properties: { ...(properties as object), ...former, global },
  };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
};
