// The functions of sprig for URLs, which are read and written as Go's net/url does.
import { percent } from "../format/escape.ts";
import { fail } from "../template-error.ts";
import { type MapValue, ofMap, ofString, type Value } from "../value/value.ts";
import { textOf } from "../value/bytes.ts";
import { type FunctionTable, mapArgument, text } from "./go-function.ts";

type Place = "path" | "user" | "host" | "fragment";

const UNRESERVED = /[A-Za-z0-9_.~-]/u;
const KEPT: Readonly<Record<Place, string>> = {
  path: "$&+,/:;=@",
  user: "$&+,;=",
  host: "!$&'()*+,;=:[]<>\"",
  fragment: "$&+,/:;=?@!()*",
};

const escape = (value: string, place: Place): string =>
  value.replaceAll(/[^A-Za-z0-9_.~-]/gu, (byte) => (KEPT[place].includes(byte) ? byte : percent(byte)));

const unescape = (value: string, place: Place): string => {
  let out = "";
  for (let at = 0; at < value.length; at++) {
    const byte = value.charAt(at);
    if (byte === "%") {
      const digits = value.slice(at + 1, at + 3);
      if (!/^[0-9a-fA-F]{2}$/u.test(digits))
        return fail(`unable to parse url: invalid URL escape "${value.slice(at, at + 3)}"`);
      if (place === "host" && Number.parseInt(digits, 16) < 0x80 && digits !== "25")
        return fail(`unable to parse url: invalid URL escape "%${digits}"`);
      out += String.fromCharCode(Number.parseInt(digits, 16));
      at += 2;
    } else if (place === "host" && byte.charCodeAt(0) < 0x80 && !UNRESERVED.test(byte) && !KEPT.host.includes(byte))
      return fail(`unable to parse url: invalid character in host name`);
    else out += byte;
  }
  return out;
};

interface Url {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: { readonly name: string; readonly password: string | undefined } | undefined;
  readonly host: string;
  readonly path: string;
  /** As it was written, if that is another way of writing the path. */
  readonly rawPath: string;
  readonly hasOmittedHost: boolean;
  readonly query: string;
  readonly hasEmptyQuery: boolean;
  readonly fragment: string;
  readonly rawFragment: string;
}

const refuse = (what: string): never => fail(`unable to parse url: ${what}`);

const parseHost = (host: string): string => {
  if (host.startsWith("[")) {
    const end = host.lastIndexOf("]");
    if (end < 0) return refuse("missing ']' in host");
    if (!/^(?::[0-9]*)?$/u.test(host.slice(end + 1))) return refuse("invalid port after host");
  } else if (host.includes("[") || host.includes("]")) return refuse("invalid character in host name");
  else {
    const colon = host.lastIndexOf(":");
    if (colon >= 0 && !/^:[0-9]*$/u.test(host.slice(colon))) return refuse("invalid port after host");
    if (colon >= 0 && host.slice(0, colon).includes(":")) return refuse("invalid host");
  }
  return unescape(host, "host");
};

const parseUrl = (given: string): Url => {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/u.test(given)) return refuse("invalid control character in URL");
  const hash = given.indexOf("#");
  const rawFragment = hash < 0 ? "" : given.slice(hash + 1);
  const fragment = unescape(rawFragment, "fragment");
  let rest = hash < 0 ? given : given.slice(0, hash);
  const none: Url = {
    scheme: "",
    opaque: "",
    user: undefined,
    host: "",
    path: "",
    rawPath: "",
    hasOmittedHost: false,
    query: "",
    hasEmptyQuery: false,
    fragment,
    rawFragment,
  };
  if (rest === "*") return { ...none, path: "*" };
  const schemed = /^([A-Za-z][A-Za-z0-9+.-]*):/u.exec(rest);
  if (rest.startsWith(":")) return refuse("missing protocol scheme");
  const scheme = (schemed?.[1] ?? "").toLowerCase();
  if (schemed !== null) rest = rest.slice(schemed[0].length);
  let query = "";
  const hasEmptyQuery = rest.endsWith("?") && rest.indexOf("?") === rest.length - 1;
  const mark = rest.indexOf("?");
  if (mark >= 0) {
    query = rest.slice(mark + 1);
    rest = rest.slice(0, mark);
  }
  const url = { ...none, scheme, query, hasEmptyQuery };
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { ...url, opaque: rest };
    if ((rest.split("/")[0] ?? "").includes(":")) return refuse("first path segment in URL cannot contain colon");
  }
  let user: Url["user"];
  let host = "";
  let hasOmittedHost = false;
  if ((scheme !== "" || !rest.startsWith("///")) && rest.startsWith("//")) {
    const slash = rest.indexOf("/", 2);
    const authority = rest.slice(2, slash < 0 ? rest.length : slash);
    rest = slash < 0 ? "" : rest.slice(slash);
    const at = authority.lastIndexOf("@");
    if (at >= 0) {
      const info = authority.slice(0, at);
      if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/u.test(info)) return refuse("invalid userinfo");
      const colon = info.indexOf(":");
      user = {
        name: unescape(colon < 0 ? info : info.slice(0, colon), "user"),
        password: colon < 0 ? undefined : unescape(info.slice(colon + 1), "user"),
      };
    }
    host = parseHost(authority.slice(at + 1));
  } else if (scheme !== "" && rest.startsWith("/")) hasOmittedHost = true;
  const path = unescape(rest, "path");
  return { ...url, user, host, path, rawPath: escape(path, "path") === rest ? "" : rest, hasOmittedHost };
};

const userText = (user: Url["user"]): string =>
  user === undefined
    ? ""
    : escape(user.name, "user") + (user.password === undefined ? "" : `:${escape(user.password, "user")}`);

const hostname = (host: string): string => {
  if (host.startsWith("[") && host.includes("]")) return host.slice(1, host.indexOf("]"));
  const colon = host.lastIndexOf(":");
  return colon >= 0 && /^:[0-9]*$/u.test(host.slice(colon)) ? host.slice(0, colon) : host;
};

const urlText = ({
  scheme,
  opaque,
  user,
  host,
  path,
  query,
  fragment,
}: Omit<Url, "rawPath" | "rawFragment" | "hasOmittedHost" | "hasEmptyQuery">): string => {
  let out = scheme === "" ? "" : `${scheme}:`;
  if (opaque !== "") out += opaque;
  else {
    if (scheme !== "" || host !== "" || user !== undefined) {
      if (host !== "" || path !== "" || user !== undefined) out += "//";
      if (user !== undefined) out += `${userText(user)}@`;
      out += escape(host, "host");
    }
    const shown = path === "*" ? "*" : escape(path, "path");
    if (shown !== "" && !shown.startsWith("/") && host !== "") out += "/";
    if (out === "" && (shown.split("/")[0] ?? "").includes(":")) out += "./";
    if (out === "" && shown.startsWith("//")) out += "/.";
    out += shown;
  }
  if (query !== "") out += `?${query}`;
  return fragment === "" ? out : `${out}#${escape(fragment, "fragment")}`;
};

const partOf = (map: MapValue, name: string): string => {
  const value = map.entries?.map.get(name);
  if (value === undefined) return "";
  return value.is === "string" ? value.value : fail(`unable to parse ${name} key, must be of type string`);
};

export const URLS: FunctionTable = {
  urlParse: {
    parameters: ["string"],
    call: ([given]) => {
      const url = parseUrl(text(given));
      const parts: Readonly<Record<string, string>> = {
        scheme: url.scheme,
        host: url.host,
        hostname: hostname(url.host),
        path: url.path,
        query: url.query,
        opaque: url.opaque,
        fragment: url.fragment,
        userinfo: userText(url.user),
      };
      return ofMap(new Map(Object.entries(parts).map(([name, part]): [string, Value] => [name, ofString(part)])));
    },
  },
  urlJoin: {
    parameters: ["map"],
    call: ([given]) => {
      const map = mapArgument(given);
      const info = partOf(map, "userinfo");
      return ofString(
        urlText({
          scheme: partOf(map, "scheme"),
          host: partOf(map, "host"),
          path: partOf(map, "path"),
          query: partOf(map, "query"),
          opaque: partOf(map, "opaque"),
          fragment: partOf(map, "fragment"),
          user:
            info === ""
              ? undefined
              : (parseUrl(`proto://${info}@host`).user ?? fail(`unable to parse userinfo ${textOf(info)}`)),
        }),
      );
    },
  },
};
