// The functions of sprig for semantic versions.
import { fail } from "../template-error.ts";
import { type Version, ofBool } from "../value/value.ts";
import { compareVersions, parseVersion } from "../value/version.ts";
import { textOf } from "../value/bytes.ts";
import { type FunctionTable, text } from "./go-function.ts";

interface Constraint {
  readonly operator: string;
  readonly version: Version;
  /** Parts are left out, or are x or *. */
  readonly isDirty: boolean;
  readonly isMinorDirty: boolean;
  readonly isPatchDirty: boolean;
}

const PART = "[0-9|x|X|*]+";
const VERSION = `v?(${PART})(\\.${PART})?(\\.${PART})?(-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(\\+([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?`;
const CONSTRAINT = new RegExp(
  `^[\\t\\n\\f\\r ]*(!=|>=|=>|<=|=<|~>|=|>|<|~|\\^|)[\\t\\n\\f\\r ]*(${VERSION})[\\t\\n\\f\\r ]*$`,
  "u",
);
const RANGE = new RegExp(
  `[\\t\\n\\f\\r ]*(${VERSION})[\\t\\n\\f\\r ]+-[\\t\\n\\f\\r ]+(${VERSION})[\\t\\n\\f\\r ]*`,
  "gu",
);

const isX = (part: string): boolean => part === "x" || part === "X" || part === "*";

const parseConstraint = (source: string): Constraint => {
  const match = CONSTRAINT.exec(source);
  if (match === null) return fail(`improper constraint: ${textOf(source)}`);
  const [, operator = "", whole = "", major = "", minor = "", patch = "", prerelease = ""] = match;
  let version = whole;
  let [isDirty, isMinorDirty, isPatchDirty] = [false, false, false];
  if (isX(major)) {
    version = "0.0.0";
    isDirty = true;
  } else if (minor === "" || isX(minor.slice(1))) {
    isMinorDirty = true;
    isDirty = true;
    version = `${major}.0.0${prerelease}`;
  } else if (isX(patch.slice(1))) {
    isDirty = true;
    isPatchDirty = true;
    version = `${major}${minor}.0${prerelease}`;
  }
  const parsed = parseVersion(version) ?? fail("constraint Parser Error");
  return { operator, version: parsed, isDirty, isMinorDirty, isPatchDirty };
};

const isWithinTilde = (version: Version, { version: bound, isMinorDirty, isPatchDirty }: Constraint): boolean => {
  if (compareVersions(version, bound) < 0) return false;
  if (bound.major === 0n && bound.minor === 0n && bound.patch === 0n && !isMinorDirty && !isPatchDirty) return true;
  return version.major === bound.major && (version.minor === bound.minor || isMinorDirty);
};

const isMet = (constraint: Constraint, version: Version): boolean => {
  const { operator, version: bound, isDirty, isMinorDirty } = constraint;
  if (operator === "!=" && !isDirty) return compareVersions(version, bound) !== 0;
  if (version.prerelease !== "" && bound.prerelease === "") return false;
  const compared = compareVersions(version, bound);
  switch (operator) {
    case "!=":
      return version.major !== bound.major || (version.minor !== bound.minor && !isMinorDirty);
    case ">":
      return compared > 0;
    case ">=":
    case "=>":
      return compared >= 0;
    case "<":
    case "<=":
    case "=<":
      if (!isDirty) return operator === "<" ? compared < 0 : compared <= 0;
      return version.major <= bound.major && (version.minor <= bound.minor || isMinorDirty);
    case "^":
      return compared >= 0 && version.major === bound.major;
    case "~":
    case "~>":
      return isWithinTilde(version, constraint);
    default:
      return isDirty ? isWithinTilde(version, constraint) : compared === 0;
  }
};

const withoutRanges = (source: string): string =>
  [...source.matchAll(RANGE)].reduce(
    (text, match) => text.replace(match[0], () => `>= ${match[1]}, <= ${match[9]}`),
    source,
  );

const versionOf = (source: string): Version => parseVersion(source) ?? fail("Invalid Semantic Version");

export const VERSIONS: FunctionTable = {
  semver: { parameters: ["string"], call: ([version]) => ({ is: "semver", value: versionOf(text(version)) }) },
  semverCompare: {
    parameters: ["string", "string"],
    call: ([constraint, version]) => {
      const alternatives = withoutRanges(text(constraint))
        .split("||")
        .map((all) => all.split(",").map(parseConstraint));
      const given = versionOf(text(version));
      return ofBool(alternatives.some((all) => all.every((one) => isMet(one, given))));
    },
  },
};
