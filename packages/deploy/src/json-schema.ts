// Prints the JSON Schema of a Transaction as text.
import { transactionJsonSchema } from "@janus/authoring";

/** The JSON Schema of a Transaction, as text, for editors. */
export const jsonSchema = (): string => `${JSON.stringify(transactionJsonSchema(), undefined, 2)}\n`;
