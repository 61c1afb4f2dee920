import { asObject } from "../kubernetes/json.ts";
import { parseElement } from "./list-element.ts";
import type { Path } from "./field-set.ts";

/** `.spec.containers[name="web"].image`: how messages name a field. */
export const showPath = (path: Path): string =>
  path
    .map((element) => {
      const rest = element.slice(2);
      if (element.startsWith("f:")) return /^[A-Za-z_][\w-]*$/.test(rest) ? `.${rest}` : `[${JSON.stringify(rest)}]`;
      if (!element.startsWith("k:")) return `[${rest}]`;
      const keys = Object.entries(asObject(parseElement(element)));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");

/** `.data["version"], .spec.replicas`; the whole object for the empty path. */
export const showPaths = (paths: readonly Path[]): string =>
  paths.map((path) => (path.length === 0 ? "the object" : showPath(path))).join(", ");
