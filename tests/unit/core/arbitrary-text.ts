import * as fc from "fast-check";

/** A UTF-16 unit or a character of two, with a liking for those that are escaped somewhere. */
const character = fc.oneof(
  fc.constantFrom("a", "1", "é", "€", "😀", "<", "&", '"', "\\", "\n", "\u0000", "\u2028", "\uFEFF"),
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);

/** `fc.string({ unit: "binary" })` takes a second to get ready. */
export const arbitraryText = (limits: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  fc.string({ ...limits, unit: character });
