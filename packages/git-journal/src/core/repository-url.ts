/**
 * Checks the URL of a repository, before git sees it: git takes commands, options and files of this machine for URLs, too.
 */
import * as E from "fp-ts/lib/Either.js";

export interface RepositoryUrl {
  readonly protocol: "https" | "http" | "ssh";
  /** The URL for git, without a name and a password. */
  readonly url: string;
  readonly host: string;
  readonly port: number | undefined;
  /** The name and password in the URL; for ssh, the user, who is part of `url`, too. */
  readonly user: { readonly name: string; readonly password: string | undefined } | undefined;
  /** The key, which is equal for all spellings of one URL, and may be shown. */
  readonly key: string;
  /**
   * A name that is equal for all URLs under which hosts of Git have one repository: with and without `.git`, by ssh and https,
   * with whatever user and case. Few have two there: so it says who may own a folder, and not where something is written.
   */
  readonly repository: string;
}

const PORTS = { https: 443, http: 80, ssh: 22 } as const;

/** Matches a host, which never begins with a hyphen: ssh would take it for an option. */
const HOST = String.raw`\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?`;
const URL_FORM = new RegExp(`^(https?|ssh)://(?:([^@/]*)@)?(${HOST})(?::(\\d{1,5}))?(/.*)$`, "iu");
const SCP_FORM = new RegExp(`^([A-Za-z0-9_][A-Za-z0-9._-]*)@(${HOST}):([^:].*)$`, "u");

const refused = (why: string): E.Either<string, never> => E.left(`repoUrl ${why}`);

const EXPECTED = "must be an https, http or ssh URL with a path, or user@host:path";

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

const isLegible = (text: string): boolean => !/[\s\p{Cc}\\]/u.test(text);

/** Reads name and password, which may have anything but what ends a line of a protocol. */
const userOf = (userinfo: string | undefined): E.Either<string, RepositoryUrl["user"]> => {
  if (userinfo === undefined || userinfo === "") return E.right(undefined);
  const at = userinfo.indexOf(":");
  const name = decoded(at < 0 ? userinfo : userinfo.slice(0, at));
  const password = at < 0 ? "" : decoded(userinfo.slice(at + 1));
  if (name === undefined || password === undefined || /\p{Cc}/u.test(name + password))
    return refused("has a name or password that is no percent-encoded text: encode % as %25, or use secretRef");
  return E.right({ name, password: at < 0 ? undefined : password });
};

const hostKey = (host: string, port: number | undefined): string =>
  `${host.toLowerCase().replace(/\.$/u, "")}${port === undefined ? "" : `:${port}`}`;

const keyOf = (protocol: string, user: string, host: string, port: number | undefined, path: string): string =>
  `${protocol}://${user}${hostKey(host, port)}${path.replace(/\/+$/u, "")}`;

const UNRESERVED = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/giu;

/** Names a repository without the parts of a path that may be left out or written otherwise. */
const repositoryAt = (host: string, port: number | undefined, path: string): string => {
  const segments = path.replaceAll(UNRESERVED, decodeURIComponent).toLowerCase().split("/");
  const name = segments.filter((segment) => !["", ".", "~"].includes(segment)).join("/");
  return `${hostKey(host, port)}/${name.replace(/(?<=[^/])(?:\/?\.git)+$/u, "")}`;
};

const ofUrl = (match: RegExpExecArray): E.Either<string, RepositoryUrl> => {
  const [, scheme = "", userinfo, host = "", digits, path = ""] = match;
  const protocol = scheme.toLowerCase() as RepositoryUrl["protocol"];
  const given = digits === undefined ? undefined : Number(digits);
  const port = given === PORTS[protocol] ? undefined : given;
  if (given !== undefined && (given < 1 || given > 65_535)) return refused("has a port that is none");
  if (path.replaceAll("/", "") === "") return refused(EXPECTED);
  if (!isLegible(decoded(path) ?? "\0"))
    return refused("has a path with an encoded control character, space or backslash");
  return E.flatMap(userOf(userinfo), (user): E.Either<string, RepositoryUrl> => {
    if (protocol !== "ssh") {
      const key = keyOf(protocol, "", host, port, path);
      const url = `${protocol}://${host}${port === undefined ? "" : `:${port}`}${path}`;
      return E.right({ protocol, url, host, port, user, key, repository: repositoryAt(host, port, path) });
    }
    if (user?.password !== undefined) return refused("has a password, which ssh does not take: use a key in secretRef");
    if (user !== undefined && !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/u.test(user.name)) return refused(EXPECTED);
    const login = user === undefined ? "" : `${user.name}@`;
    const url = `ssh://${login}${host}${port === undefined ? "" : `:${port}`}${path}`;
    const key = keyOf("ssh", login, host, port, path);
    return E.right({ protocol, url, host, port, user, key, repository: repositoryAt(host, port, path) });
  });
};

/**
 * Reads the URL of a repository. On the left why it is refused, without any part of the URL: it may have a password.
 *
 * Guarantees: `url` is https, http, ssh or scp-like; has no name and password but the user of ssh; neither it, its host nor its path
 *             begins with a hyphen, and it has no white space, control character or name of a helper of git (`ext::`).
 */
export const repositoryUrl = (text: string): E.Either<string, RepositoryUrl> => {
  if (text.startsWith("-")) return refused("begins with a hyphen");
  if (!isLegible(text)) return refused("has white space, a control character or a backslash");
  const url = URL_FORM.exec(text);
  if (url !== null) return ofUrl(url);
  const [, name, host, path] = SCP_FORM.exec(text) ?? [];
  if (name === undefined || host === undefined || path === undefined || path.startsWith("-")) return refused(EXPECTED);
  // The key differs from that of ssh://host/path: here the path begins in the home directory.
  const key = `${name}@${host.toLowerCase()}:${path.replace(/\/+$/u, "")}`;
  const repository = repositoryAt(host, undefined, path);
  return E.right({
    protocol: "ssh",
    url: text,
    host,
    port: undefined,
    user: { name, password: undefined },
    key,
    repository,
  });
};
