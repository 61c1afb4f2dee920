// Formats field paths for messages.
import { asObject } from "@janus/types";
import { parseElement } from "./list-element.ts";
import type { Path } from "./field-set.ts";

/** The most paths that are named: a message has no room for more. */
export const MOST_SHOWN = 20;

const pathText = (path: Path, conceals: boolean): string =>
  path
    .map((element) => {
      const rest = element.slice(2);
      if (element.startsWith("f:")) return /^[A-Za-z_][\w-]*$/.test(rest) ? `.${rest}` : `[${JSON.stringify(rest)}]`;
      if (!element.startsWith("k:")) return conceals ? "[…]" : `[${rest}]`;
      const keys = Object.entries(asObject(parseElement(element)));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");

/** `.spec.containers[name="web"].image`: how messages name a field. */
export const showPath = (path: Path): string => pathText(path, false);

/**
 * `.data["version"], .spec.replicas`; the whole object for the empty path. Of many, the first.
 *
 * @param conceals whether values must not be shown, such as the members of a set. Default: they may.
 */
export const showPaths = (paths: readonly Path[], conceals = false): string => {
  const shown = paths.slice(0, MOST_SHOWN).map((path) => (path.length === 0 ? "the object" : pathText(path, conceals)));
  return [...new Set(shown), ...(paths.length > MOST_SHOWN ? ["other fields"] : [])].join(", ");
};
