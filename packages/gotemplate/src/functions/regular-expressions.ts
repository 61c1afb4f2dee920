// sprig's functions of regular expressions, in linear time by RE2, and of versions and URLs.
import { RE2JS } from "re2js";
import { Fault } from "../fault.ts";
import { bool, list, map, text } from "../value.ts";
import { type FunctionTable, intOf, stringOf, mapOf, strval } from "./function.ts";

const compiled = (pattern: string): RE2JS => {
  try {
    return RE2JS.compile(pattern);
  } catch {
    throw new Fault(`regexp: Compile(${JSON.stringify(pattern)}): error parsing regexp`);
  }
};

interface Match {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

const MOST_MATCHES = 100_000;

const matches = (pattern: string, value: string, most: number, spend: (cost: number) => void): readonly Match[] => {
  const matcher = compiled(pattern).matcher(value);
  const found: Match[] = [];
  const wanted = most < 0 ? MOST_MATCHES : most;
  while (found.length < wanted && matcher.find()) {
    spend(1);
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, at) => matcher.group(at) ?? undefined);
    const [start, end] = [matcher.start(), matcher.end()];
    // As Go: an empty match directly after another one does not count.
    if (start !== end || found.at(-1)?.end !== start) found.push({ start, end, groups });
  }
  return found;
};

/** `$1`, `${1}`, `$name` as Go's Expand has it. */
const expanded = (template: string, { groups }: Match, names: Readonly<Record<string, number>>): string =>
  template.replaceAll(/\$(?:\$|\{(\w+)\}|(\w+))/gu, (whole, braced?: string, bare?: string) => {
    if (whole === "$$") return "$";
    const name = braced ?? bare ?? "";
    const at = /^\d+$/u.test(name) ? Number(name) : names[name];
    return at === undefined ? "" : (groups[at] ?? "");
  });

const replaced = (value: string, found: readonly Match[], by: (match: Match) => string): string => {
  let at = 0;
  const parts = found.map((match) => {
    const part = `${value.slice(at, match.start)}${by(match)}`;
    at = match.end;
    return part;
  });
  return `${parts.join("")}${value.slice(at)}`;
};

const splitAt = (value: string, found: readonly Match[], most: number): readonly string[] => {
  const parts: string[] = [];
  let [start, at] = [0, 0];
  for (const { start: from, end } of found) {
    if (most > 0 && parts.length === most - 1) break;
    at = from;
    if (end !== 0) parts.push(value.slice(start, at));
    start = end;
  }
  if (at !== value.length || start !== value.length) parts.push(value.slice(start));
  return parts;
};

interface Version {
  readonly core: readonly [number, number, number];
  readonly pre: string;
  readonly metadata: string;
}

const VERSION = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/u;

const versionOf = (value: string): Version => {
  const found = VERSION.exec(value);
  if (found === null) throw new Fault("Invalid Semantic Version");
  const [, major = "0", minor = "0", patch = "0", pre = "", metadata = ""] = found;
  return { core: [Number(major), Number(minor), Number(patch)], pre, metadata };
};

const comparePre = (a: string, b: string): number => {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1;
  const [left, right] = [a.split("."), b.split(".")];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [x, y] = [left[at], right[at]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    if (x === y) continue;
    const [isX, isY] = [/^\d+$/u.test(x), /^\d+$/u.test(y)];
    if (isX && isY) return Number(x) - Number(y);
    if (isX !== isY) return isX ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return 0;
};

const compareVersions = (a: Version, b: Version): number => {
  for (const at of [0, 1, 2] as const) if (a.core[at] !== b.core[at]) return a.core[at] - b.core[at];
  return comparePre(a.pre, b.pre);
};

/** One comparison of a constraint, such as `>=1.2`, `^1`, `~1.2`, `1.x`. */
const meets = (version: Version, constraint: string): boolean => {
  const [, sign = "", wanted = ""] = /^\s*(!=|>=|=>|<=|=<|~>|=|>|<|~|\^)?\s*v?(\S+)\s*$/u.exec(constraint) ?? [];
  const found = /^(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+\S+)?$/u.exec(wanted);
  if (found === null) throw new Fault(`improper constraint: ${constraint}`);
  const parts = [found[1], found[2], found[3]].map((part) =>
    part === undefined || /[xX*]/u.test(part) ? undefined : Number(part),
  );
  const pre = found[4] ?? "";
  const [major, minor, patch] = parts;
  if (version.pre !== "" && pre === "") return false;
  if (major === undefined) return sign !== "!=" && sign !== ">" && sign !== "<";
  const low: Version = { core: [major, minor ?? 0, patch ?? 0], pre, metadata: "" };
  const isDirty = minor === undefined || patch === undefined;
  const upTo = (core: readonly [number, number, number]): boolean =>
    compareVersions(version, low) >= 0 && compareVersions({ ...version, pre: "" }, { core, pre: "", metadata: "" }) < 0;
  const tilde = (): boolean => upTo(minor === undefined ? [major + 1, 0, 0] : [major, minor + 1, 0]);
  switch (sign) {
    case "":
    case "=":
      return isDirty ? tilde() : compareVersions(version, low) === 0;
    case "!=":
      return isDirty ? !tilde() : compareVersions(version, low) !== 0;
    case ">":
      return isDirty ? compareVersions(version, low) >= 0 && !tilde() : compareVersions(version, low) > 0;
    case "<":
      return compareVersions(version, low) < 0;
    case ">=":
    case "=>":
      return compareVersions(version, low) >= 0;
    case "<=":
    case "=<":
      return compareVersions(version, low) <= 0 || (isDirty && tilde());
    case "~":
    case "~>":
      return tilde();
    default:
      if (major > 0 || minor === undefined) return upTo([major + 1, 0, 0]);
      return minor > 0 || patch === undefined ? upTo([0, minor + 1, 0]) : upTo([0, 0, patch + 1]);
  }
};

const satisfies = (constraint: string, version: Version): boolean =>
  constraint.split("||").some((all) =>
    all
      .replaceAll(/(\S+)\s+-\s+(\S+)/gu, ">=$1, <=$2")
      .split(/,|\s+(?=[=!<>~^\dvxX*])/u)
      .filter((one) => one.trim() !== "")
      .every((one) => meets(version, one)),
  );

export const regularExpressions: FunctionTable = {
  regexMatch: {
    arity: [2, 2],
    call: ([pattern, value]) => bool(compiled(stringOf(pattern)).matcher(stringOf(value)).find()),
  },
  regexFind: {
    arity: [2, 2],
    call: ([pattern, value], { spend }) =>
      text(matches(stringOf(pattern), stringOf(value), 1, spend)[0]?.groups[0] ?? ""),
  },
  regexFindAll: {
    arity: [3, 3],
    call: ([pattern, value, most], { spend }) =>
      list(matches(stringOf(pattern), stringOf(value), intOf(most), spend).map(({ groups }) => text(groups[0] ?? ""))),
  },
  regexReplaceAll: {
    arity: [3, 3],
    call: ([pattern, value, by], { spend }) => {
      const names = compiled(stringOf(pattern)).namedGroups() as Readonly<Record<string, number>>;
      const found = matches(stringOf(pattern), stringOf(value), -1, spend);
      return text(replaced(stringOf(value), found, (match) => expanded(stringOf(by), match, names)));
    },
  },
  regexReplaceAllLiteral: {
    arity: [3, 3],
    call: ([pattern, value, by], { spend }) =>
      text(replaced(stringOf(value), matches(stringOf(pattern), stringOf(value), -1, spend), () => stringOf(by))),
  },
  regexSplit: {
    arity: [3, 3],
    call: ([pattern, value, most], { spend }) => {
      if (intOf(most) === 0) return list([]);
      return list(
        splitAt(stringOf(value), matches(stringOf(pattern), stringOf(value), -1, spend), intOf(most)).map(text),
      );
    },
  },
  semver: {
    arity: [1, 1],
    call: ([value]) => {
      const { core, pre, metadata } = versionOf(stringOf(value));
      return map([
        ["Major", text(`${core[0]}`)],
        ["Minor", text(`${core[1]}`)],
        ["Patch", text(`${core[2]}`)],
        ["Prerelease", text(pre)],
        ["Metadata", text(metadata)],
        ["Original", text(stringOf(value))],
      ]);
    },
  },
  semverCompare: {
    arity: [2, 2],
    call: ([constraint, value]) => bool(satisfies(stringOf(constraint), versionOf(stringOf(value)))),
  },
  urlParse: {
    arity: [1, 1],
    call: ([value]) => {
      const [, scheme = "", , user = "", host = "", place = "", query = "", fragment = ""] =
        /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(\/\/(?:([^@/?#]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/u.exec(
          stringOf(value),
        ) ?? [];
      return map([
        ["scheme", text(scheme.toLowerCase())],
        ["host", text(host)],
        ["hostname", text(host.replace(/:\d*$/u, ""))],
        ["path", text(place)],
        ["query", text(query)],
        ["opaque", text("")],
        ["fragment", text(fragment)],
        ["userinfo", text(user)],
      ]);
    },
  },
  urlJoin: {
    arity: [1, 1],
    call: ([value]) => {
      const part = (name: string): string => {
        const found = mapOf(value).get(name);
        return found === undefined ? "" : strval(found);
      };
      const [scheme, user, host] = [part("scheme"), part("userinfo"), part("host")];
      const authority = host === "" && user === "" ? "" : `//${user === "" ? "" : `${user}@`}${host}`;
      const place = part("path");
      const query = part("query");
      const fragment = part("fragment");
      return text(
        `${scheme === "" ? "" : `${scheme}:`}${authority}${host !== "" && place !== "" && !place.startsWith("/") ? "/" : ""}${place}${query === "" ? "" : `?${query}`}${fragment === "" ? "" : `#${fragment}`}`,
      );
    },
  },
};
