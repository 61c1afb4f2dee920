// Values of plain JSON, as Kubernetes decodes what has no type: integers are int64, other numbers float64.
import { bytesOf } from "./bytes.ts";
import { NIL, ofBool, ofFloat, ofInt64, ofList, ofMap, str, type Value } from "./value.ts";

export const fromJson = (json: unknown): Value => {
  if (typeof json === "string") return str(json);
  if (typeof json === "boolean") return ofBool(json);
  if (typeof json === "bigint") return ofInt64(json);
  if (typeof json === "number") return Number.isSafeInteger(json) ? ofInt64(json) : ofFloat(json);
  if (Array.isArray(json)) return ofList(json.map(fromJson));
  if (typeof json === "object" && json !== null)
    return ofMap(new Map(Object.entries(json).map(([key, value]) => [bytesOf(key), fromJson(value)])));
  return NIL;
};
