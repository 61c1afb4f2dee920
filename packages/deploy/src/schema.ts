// `npm run schema`: prints the JSON Schema of a Transaction.
import { jsonSchema } from "./json-schema.ts";

process.stdout.write(jsonSchema());
