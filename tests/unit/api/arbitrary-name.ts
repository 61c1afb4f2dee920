import * as fc from "fast-check";

export const isLabel = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u;
export const isSubdomain = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/u;
export const isLabelValue = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/u;

// Few letters and telling pieces, so that names meet each other, our own suffixes, and the longest legal length.
const piece = fc.constantFrom(
  "a",
  "b",
  "-",
  ".",
  "rollback",
  "-1",
  "0123456789abcdef",
  "x".repeat(61),
  "y".repeat(200),
);
const spelled = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join("").slice(0, 253));

/** The legal names of most kinds: DNS subdomains of up to 253 characters. */
export const subdomain = spelled.filter((name) => isSubdomain.test(name));

/** The legal names of namespaces. */
export const label = spelled.filter((name) => isLabel.test(name));

/** The legal names of any kind, RBAC's colons and capitals included. */
export const pathSegment = fc
  .array(fc.oneof(piece, fc.constantFrom(":", "A", "_", "é", "@", " ")), { minLength: 1, maxLength: 8 })
  .map((pieces) => pieces.join("").slice(0, 253))
  .filter((name) => name !== "." && name !== "..");

/** Names of 253 characters with a dot at each place where one can be: whatever is cut is cut beside it once. */
export const dotted: readonly string[] = Array.from(
  { length: 251 },
  (_, index) => `${"x".repeat(index + 1)}.${"y".repeat(251 - index)}`,
);
