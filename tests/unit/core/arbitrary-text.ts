import * as fc from "fast-check";

/** A UTF-16 unit or a character of two, with a liking for those that are escaped somewhere. */
const character = fc.oneof(
  fc.constantFrom("a", "1", "é", "€", "😀", "<", "&", '"', "\\", "\n", "\u0000", "\u2028", "\uFEFF"),
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);

/** Any character but surrogates. The unit `binary` of fast-check, which is the same, takes seconds to get ready. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ffff - 0x800 })
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + 0x800));

export const arbitraryText = (limits: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  fc.string({ ...limits, unit: character });
