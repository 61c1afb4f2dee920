// Semantic versions, as Masterminds/semver 1.5 reads and compares them.
import { parseInt64 } from "../format/parse-number.ts";
import type { Version } from "./value.ts";

const VERSION =
  /^v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/u;

export const parseVersion = (text: string): Version | undefined => {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major = "0", minor = ".0", patch = ".0", prerelease = "", metadata = ""] = match;
  const numbers = [major, minor.slice(1), patch.slice(1)].map((digits) => parseInt64(digits, 10));
  const [a, b, c] = numbers;
  if (a === undefined || b === undefined || c === undefined) return undefined;
  return { major: a, minor: b, patch: c, prerelease, metadata, original: text };
};

export const versionText = ({ major, minor, patch, prerelease, metadata }: Version): string =>
  `${major}.${minor}.${patch}${prerelease === "" ? "" : `-${prerelease}`}${metadata === "" ? "" : `+${metadata}`}`;

const isNumeric = (part: string): boolean => /^[0-9]+$/u.test(part) && BigInt(part) < 2n ** 64n;

const comparePart = (a: string, b: string): number => {
  if (a === b) return 0;
  if (a === "") return -1;
  if (b === "") return 1;
  if (isNumeric(a) && isNumeric(b)) return BigInt(a) > BigInt(b) ? 1 : -1;
  if (isNumeric(a)) return -1;
  if (isNumeric(b)) return 1;
  return a > b ? 1 : -1;
};

const comparePrerelease = (a: string, b: string): number => {
  if (a === b) return 0;
  if (a === "") return 1;
  if (b === "") return -1;
  const as = a.split(".");
  const bs = b.split(".");
  for (let n = 0; n < Math.max(as.length, bs.length); n++) {
    const compared = comparePart(as[n] ?? "", bs[n] ?? "");
    if (compared !== 0) return compared;
  }
  return 0;
};

const sign = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

export const compareVersions = (a: Version, b: Version): number =>
  sign(a.major, b.major) ||
  sign(a.minor, b.minor) ||
  sign(a.patch, b.patch) ||
  comparePrerelease(a.prerelease, b.prerelease);
