// The verdict on an answer of git: what it means for the branch, and what people are told.
import type { ObjectFormat } from "../blob-id.ts";
import { type BranchName, refOf } from "./branch-name.ts";

/** The message of the reader that has ended the listing of a tree. */
export const TOO_MANY_FILES = "too many files";

/** The message for a process that was ended because the clone is too large. */
export const TOO_LARGE = "too large";

/** The end of a git process that did not succeed. */
export interface GitFailure {
  readonly ended:
    | { readonly by: "exit"; readonly code: number }
    | { readonly by: "signal"; readonly signal: string }
    | { readonly by: "deadline"; readonly seconds: number }
    | { readonly by: "error"; readonly message: string };
  /** The end of its stderr. It may have credentials, and is shown only as messages of verdicts. */
  readonly stderr: string;
  /** The stdout, of `push --porcelain`. It may have credentials. */
  readonly stdout: string;
}

/** The place of a branch, as messages name it. */
export interface Place {
  /** The URL without credentials. */
  readonly url: string;
  readonly host: string;
  /** The port; undefined: that of the protocol. */
  readonly port: number | undefined;
  readonly branch: BranchName;
  /** The Secret, such as `shop/cred`; undefined: the repository is used without credentials, or with those of its URL. */
  readonly secret: string | undefined;
  /** Whether the URL is that of a flag of kubectl janus, and not of a GitRepoConfig. */
  readonly isOfFlag?: true;
  /**
   * Takes the credentials out of a text that is shown. Words are understood before: a password may be a part of any of them, such as
   * of `could not read`.
   */
  readonly scrub: (text: string) => string;
}

/** The reasons of the condition Ready that follow from answers of git. */
export type TroubleReason =
  | "AuthenticationFailed"
  | "CertificateUnknown"
  | "ConnectionFailed"
  | "DiskFull"
  | "HostKeyChanged"
  | "HostKeyUnknown"
  | "InvalidURL"
  | "LeaseHeld"
  | "PushRefused"
  | "RepositoryTooLarge"
  | "SecretMalformed"
  | "SecretNotFound";

export interface Trouble {
  readonly reason: TroubleReason;
  readonly message: string;
  /** Whether it stays until somebody changes something: another try soon would meet the same. */
  readonly lasts: boolean;
}

export type Verdict =
  /** The server has no such branch. */
  | { readonly is: "absent" }
  /** Somebody else has pushed: everything is compared anew. */
  | { readonly is: "stale" }
  /** The objects of the server have names of another hash; undefined: it does not say of which. */
  | { readonly is: "other format"; readonly format: ObjectFormat | undefined }
  /** The clone has lock files or halves of packs of a process that is gone. */
  | { readonly is: "unclean"; readonly trouble: Trouble }
  /** The clone is damaged. */
  | { readonly is: "damaged" }
  | { readonly is: "disk full"; readonly trouble: Trouble }
  /** The clone is larger than it may be, by what it has from before, or by what the branch has. */
  | { readonly is: "too large"; readonly trouble: Trouble }
  /** The server answers that the repository is elsewhere, and git does not say where. */
  | { readonly is: "redirected"; readonly status: string }
  | { readonly is: "trouble"; readonly trouble: Trouble };

/** The most characters of a server in a message. */
const LONGEST_WORDS = 1024;

/** Whether a line is of the server: git prints `remote: ` before it, but not over ssh. */
const isOfServer = (line: string): boolean => line.startsWith("remote:");

/** The words of this side, without names that users have chosen, which may be like words of git. */
const nearWords = ({ url, branch }: Place, stderr: string): string =>
  stderr
    .split("\n")
    .filter((line) => !isOfServer(line))
    .join("\n")
    .replaceAll(url, "URL")
    .replaceAll(refOf(branch), "REF");

/** Makes words fit to be shown: on one line, not too long, and without credentials. */
export const shown = ({ scrub }: Pick<Place, "scrub">, words: string): string => {
  const line = scrub(words)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return line.length <= LONGEST_WORDS ? line : `${line.slice(0, LONGEST_WORDS).toWellFormed()}…`;
};

/** Reads the flag and the summary of our ref from `push --porcelain`. */
const statusOf = (stdout: string): { readonly flag: string; readonly summary: string } | undefined => {
  const line = stdout.split("\n").find((one) => /^[ +*=!-]\t[^\t]+\t/u.test(one));
  return line === undefined ? undefined : { flag: line.slice(0, 1), summary: line.split("\t").slice(2).join(" ") };
};

/**
 * The sentences of hosts of Git that say why. Only the match is shown: its names are of an account and its repository.
 */
const KNOWN =
  /^(?:Repository not found|Not found|Unauthorized|Cannot access repository|HTTP Basic: Access denied|Invalid username or (?:password|token)|Support for password authentication was removed|The project you were looking for could not be found|Write access to repository not granted|This repository was archived so it is read-only|Permission to [\w./-]{1,200} denied to [\w.[\]-]{1,100}|You are not allowed to (?:push code|upload code|download code|force push)|TF\d{6}|aborting due to possible repository corruption on the remote side)(?=[.:]|\s|$)/u;

/**
 * The words of the server that may be shown. Git prints any answer over http that is plain text as if a host of Git had said it;
 * whoever writes a repoUrl could so read what services inside the cluster answer. Over ssh, and to a push that was decided on, it
 * is a server that speaks the protocol of Git.
 */
const serverWordsOf = (place: Place, { stderr, stdout }: GitFailure): string => {
  const said = stderr.split("\n").flatMap((line) => (isOfServer(line) ? [line.slice("remote:".length).trim()] : []));
  const isOfGit = !/^https?:/iu.test(place.url) || statusOf(stdout) !== undefined;
  return shown(place, (isOfGit ? said : said.flatMap((line) => KNOWN.exec(line)?.[0] ?? [])).join("\n"));
};

/** The words of the server, if it has said any, else those of git. */
const wordsOf = (place: Place, failure: GitFailure): string => {
  const { stderr, ended } = failure;
  const said = serverWordsOf(place, failure);
  if (said !== "") return said;
  const own = shown(
    place,
    stderr
      .split("\n")
      .filter((line) => !isOfServer(line) && !/^(?:hint|warning|Warning):/u.test(line))
      .map((line) => line.replace(/^(?:fatal|error): /u, "").replace(/(?<=invalid server response); got .*/u, ""))
      .join("\n"),
  );
  if (own !== "") return own;
  if (ended.by === "exit") return `git ended with exit code ${ended.code}`;
  return ended.by === "signal" ? `git was ended by ${ended.signal}` : "git did not end";
};

const keyscan = ({ host, port }: Place): string =>
  `ssh-keyscan ${port === undefined ? "" : `-p ${port} `}${host.replaceAll(/[[\]]/gu, "")}`;

/** The advice where a flag of kubectl janus has no room: for a CA, and for credentials but a name and a password. */
const NAME_ANOTHER = "name a clone (--repo DIRECTORY), or its GitDestination (--destination)";

/** The flag or field that has the URL. */
const urlOf = ({ isOfFlag }: Place): string => (isOfFlag === true ? "--repo" : "repoUrl");

const mayNotRead = ({ secret, isOfFlag }: Place): string =>
  secret === undefined
    ? `it needs credentials${isOfFlag === true ? "" : " (no secretRef is set)"}`
    : `the credentials of Secret ${secret} may not read it`;

const notAccepted = ({ host, url, secret, isOfFlag }: Place): string =>
  secret === undefined
    ? `${host} asks for credentials for ${url}, and there are none, or those of the URL are wrong: ` +
      (isOfFlag === true
        ? `put a name and password into it, or ${NAME_ANOTHER}`
        : "set secretRef, or put a name and password into the URL")
    : `${host} does not accept the credentials of Secret ${secret} for ${url}`;

const ofOwnCa = (place: Place): string =>
  place.isOfFlag === true ? NAME_ANOTHER : `add it to ${secretOf(place)} as ca.crt`;

const secretOf = ({ secret }: Place): string => (secret === undefined ? "a Secret (secretRef)" : `Secret ${secret}`);

const lasting = (reason: TroubleReason, message: string): Verdict => ({
  is: "trouble",
  trouble: { reason, message, lasts: true },
});

const passing = (message: string): Verdict => ({
  is: "trouble",
  trouble: { reason: "ConnectionFailed", message, lasts: false },
});

const unclean = (message: string): Verdict => ({
  is: "unclean",
  trouble: { reason: "ConnectionFailed", message, lasts: false },
});

/** Matches the place of a repository: only an address that ends as git has asked for it is one, and not a page to log in. */
const REPOSITORY = /^((?:https?:\/\/[^\s/?#@]+)?\/[^\s?#]*?)\/info\/refs(?:\?|$)/iu;

/** The trouble of a repository that is elsewhere. @param location undefined: the server does not say where */
export const redirected = (place: Place, status: string, location: string | undefined): Trouble => {
  const there = REPOSITORY.exec(location ?? "")?.[1];
  const to = there === undefined ? "" : ` to ${shown(place, there)}`;
  return {
    reason: "InvalidURL",
    message: `${place.url} is redirected${to} (HTTP ${status}), which is not followed: set repoUrl to where the repository is`,
    lasts: true,
  };
};

/** The trouble of an answer that no rule knows. */
export const unexpected = (place: Place, failure: GitFailure): Trouble => ({
  reason: "ConnectionFailed",
  message: `git failed for ${place.url}: ${wordsOf(place, failure)}`,
  lasts: false,
});

interface Rule {
  readonly says: RegExp;
  readonly means: (place: Place, match: readonly string[], failure: GitFailure) => Verdict;
}

const DISK = /No space left on device|Out of diskspace|Disk quota exceeded|ENOSPC|EDQUOT/iu;

/** The rules, of which the first that fits counts. Words of git, curl and OpenSSH are English: git is started with LC_ALL=C. */
const RULES: readonly Rule[] = [
  {
    says: /exec: (git|ssh): .*not found|cannot run (ssh):/u,
    means: (_, [, git, ssh]) => passing(`${git ?? ssh} is not installed where the controller runs`),
  },
  {
    says: /REMOTE HOST IDENTIFICATION HAS CHANGED/u,
    means: (place) =>
      lasting(
        "HostKeyChanged",
        `${place.host} has another host key than known_hosts of ${secretOf(place)} says: if its key was changed on purpose, replace the lines of ${place.host} with the output of ${keyscan(place)}`,
      ),
  },
  {
    says: /Host key verification failed|No \S+ host key is known for/u,
    means: (place) =>
      lasting(
        "HostKeyUnknown",
        `known_hosts of ${secretOf(place)} has no host key of ${place.host}: add the output of ${keyscan(place)}`,
      ),
  },
  {
    says: /Load key .*: (?:error in libcrypto|invalid format)/u,
    means: (place) =>
      lasting(
        "SecretMalformed",
        `the private key of ${secretOf(place)} cannot be read: it is no private key in a format of OpenSSH`,
      ),
  },
  {
    says: /Could not resolve proxy: (\S+)/u,
    means: (place, [, proxy = ""]) =>
      passing(`the name ${shown(place, proxy)} of the proxy cannot be resolved: check HTTPS_PROXY and NO_PROXY`),
  },
  {
    says: /HTTP code 407|returned error: 407/u,
    means: () => lasting("AuthenticationFailed", "the proxy asks for credentials: put them into HTTPS_PROXY"),
  },
  {
    says: /returned error: 413|HTTP 413/u,
    means: (place) =>
      lasting(
        "PushRefused",
        `${place.host}, or a proxy before it, takes no push of this size (HTTP 413): raise its limit, or push less at a time`,
      ),
  },
  {
    // OpenSSH says no more if a key cannot be opened with its passphrase.
    says: /Permission denied \(|Too many authentication failures/u,
    means: (place) =>
      lasting(
        "AuthenticationFailed",
        `${notAccepted(place)}: it does not know the key, or the key needs another passphrase`,
      ),
  },
  {
    // Git would ask its user for others, and has no words for what is wrong.
    says: /could not read (?:Username|Password)/u,
    means: (place, _, failure) => {
      const why = [
        serverWordsOf(place, failure),
        place.secret === undefined ? "" : "they are missing, wrong or expired",
      ];
      const first = why.find((one) => one !== "");
      return lasting("AuthenticationFailed", `${notAccepted(place)}${first === undefined ? "" : `: ${first}`}`);
    },
  },
  {
    says: /Authentication failed for|returned error: 401|HTTP 401/u,
    means: (place, _, failure) => lasting("AuthenticationFailed", `${notAccepted(place)}: ${wordsOf(place, failure)}`),
  },
  {
    says: /returned error: 403|HTTP 403|ERROR: Permission to|marked as read only/u,
    means: (place, _, failure) =>
      lasting(
        "AuthenticationFailed",
        `${notAccepted(place)} (they must be allowed to read and push): ${wordsOf(place, failure)}`,
      ),
  },
  {
    says: /certificate (?:verification failed|problem|verify failed|subject name|has expired)|self-signed certificate|issuer certificate|SSL: no alternative/u,
    means: (place, _, failure) =>
      lasting(
        "CertificateUnknown",
        `the certificate of ${place.host} is not accepted (${wordsOf(place, failure)}): if its CA is an own one, ${ofOwnCa(place)}`,
      ),
  },
  {
    says: /returned error: (30[12378])|HTTP (30[12378])/u,
    means: (_, [, a, b]) => ({ is: "redirected", status: a ?? b ?? "" }),
  },
  {
    says: /does not support this repository's hash algorithm/u,
    means: () => ({ is: "other format", format: undefined }),
  },
  {
    says: /mismatched algorithms: client (?:sha1|sha256); server (sha1|sha256)/u,
    means: (_, [, format]) => ({ is: "other format", format: format === "sha256" ? "sha256" : "sha1" }),
  },
  { says: /couldn't find remote ref REF/u, means: () => ({ is: "absent" }) },
  {
    says: DISK,
    means: (place, __, failure) => ({
      is: "disk full",
      trouble: {
        reason: "DiskFull",
        message: `the work directory is full: the clone is removed, and made again (${wordsOf(place, failure)})`,
        lasts: false,
      },
    }),
  },
  {
    says: /Could not resolve host(?:name)?|Name or service not known|Temporary failure in name resolution/u,
    means: (place) =>
      passing(
        `the name ${place.host} cannot be resolved: check ${urlOf(place)}, and the DNS${place.isOfFlag === true ? "" : " of the cluster"}`,
      ),
  },
  {
    says: /repository '.*' not found|does not appear to be a git repository|ERROR: Repository not found|returned error: 404|not valid: is this a git repository|not a git repository \(or any/u,
    means: (place, _, failure) =>
      lasting(
        "ConnectionFailed",
        `there is no repository at ${place.url}, or ${mayNotRead(place)}: ${wordsOf(place, failure)}`,
      ),
  },
  {
    says: /transport '(\S+)' not allowed/u,
    means: (place, [, protocol]) =>
      lasting("InvalidURL", `${place.url}: the protocol ${shown(place, protocol ?? "")} is not supported`),
  },
  {
    says: /fsck error in/u,
    means: (place, _, failure) =>
      lasting(
        "ConnectionFailed",
        `branch ${place.branch} of ${place.url} has an object that git does not take: remove it there (${wordsOf(place, failure)})`,
      ),
  },
  {
    says: /Unable to create '.*\.lock': File exists/u,
    means: ({ url }) => unclean(`the clone of ${url} is locked by another process`),
  },
  {
    says: /died of signal (\d+)/u,
    means: ({ url }, [, signal]) =>
      unclean(`a process of git was ended by signal ${signal} for ${url}: is there enough memory in the container?`),
  },
  {
    says: /dumb http transport/u,
    means: (place) =>
      lasting(
        "ConnectionFailed",
        `${place.url} is served as plain files, without the protocol of git: set ${urlOf(place)} to a git server`,
      ),
  },
  {
    says: /is corrupt|is empty|bad object|bad tree|missing (?:blob|tree|commit)|unable to read (?:tree|sha1 file)|could not parse|not a git repository|invalid sha1 pointer|inflate:|unresolved deltas|cannot be accessed|does not match index|bad ref|broken (?:ref|link)|unable to find all commit-graph|Not a (?:tree|blob|commit)|not a valid object|Failed to traverse parents|error in object/u,
    means: () => ({ is: "damaged" }),
  },
  {
    says: /Failed to connect|Couldn't connect|Connection (?:refused|timed out)|No route to host|Network is unreachable|Operation timed out/u,
    means: (place, _, failure) =>
      passing(
        `the connection to ${place.host} failed: check ${urlOf(place)}${place.isOfFlag === true ? "" : ", and that its port is one of gitJournal.gitPorts"} (${wordsOf(place, failure)})`,
      ),
  },
];

const NETWORK =
  /Connection (?:reset|closed)|hung up unexpectedly|early EOF|Recv failure|Empty reply|transfer closed|unexpected disconnect|RPC failed|HTTP\/?\d* ?5\d\d|returned error: (?:5\d\d|429)|handshake|TLS connection|SSL_|recv error/u;

const deadlineMessage = (place: Place, seconds: number): string =>
  `git and ${place.host} did not come to an end within ${seconds} s: the server is slow, or the network loses what is sent`;

/** The verdict on a git process that failed; for pushes see {@link pushVerdict}. */
export const verdict = (place: Place, failure: GitFailure): Verdict => {
  const { ended, stderr } = failure;
  if (ended.by === "deadline") return passing(deadlineMessage(place, ended.seconds));
  if (ended.by === "error" && ended.message === TOO_MANY_FILES)
    return lasting(
      "ConnectionFailed",
      `branch ${place.branch} of ${place.url} has more files than the journal reads: use a branch, or a repository, of its own`,
    );
  if (ended.by === "error" && ended.message === TOO_LARGE)
    return {
      is: "too large",
      trouble: {
        reason: "RepositoryTooLarge",
        message: `branch ${place.branch} of ${place.url} takes more room than a clone may (--git-clone-max-mib): use a branch, or a repository, of its own, or ask who runs the controller to raise that flag`,
        lasts: true,
      },
    };
  const near = `${nearWords(place, stderr)}\n${ended.by === "error" ? ended.message : ""}`;
  if (ended.by === "error" && !DISK.test(near)) return passing(`git could not be run: ${shown(place, ended.message)}`);
  const rule = RULES.find(({ says }) => says.test(near));
  if (rule !== undefined) return rule.means(place, [...(rule.says.exec(near) ?? [])], failure);
  return NETWORK.test(near)
    ? passing(`the connection to ${place.host} failed: ${wordsOf(place, failure)}`)
    : { is: "trouble", trouble: unexpected(place, failure) };
};

/** Matches answers that say that the ref on the server is no longer the one that was read. */
const STALE =
  /stale info|fetch first|non-fast-forward|cannot lock ref|failed to update ref|reference already exists|incorrect old value|remote ref updated since checkout/u;

/**
 * The verdict on a push; accepted: the server has said so.
 *
 * Guarantees: it is accepted only by the word of the server; where the reply was lost it is trouble, and a fetch has to decide.
 */
export const pushVerdict = (place: Place, failure: GitFailure): Verdict | { readonly is: "accepted" } => {
  const status = statusOf(failure.stdout);
  if (status === undefined || failure.ended.by === "deadline") return verdict(place, failure);
  const { flag, summary } = status;
  if (flag !== "!") return { is: "accepted" };
  if (/remote failure|failed to report status/u.test(summary)) return passing(lostReply(place, failure));
  const why = /\((.*)\)/u.exec(summary)?.[1] ?? summary;
  if (/exists; cannot create|refname conflict/u.test(`${why}\n${failure.stderr}`))
    return lasting(
      "PushRefused",
      `the server has a branch whose name is a folder of ${place.branch}, or the other way round: ${shown(place, why)}`,
    );
  if (STALE.test(why)) return { is: "stale" };
  const servers = failure.stderr
    .split("\n")
    .some((line) => line.slice("remote:".length).trim() !== "" && isOfServer(line));
  const words = servers ? `: ${wordsOf(place, failure)}` : "";
  return lasting("PushRefused", `${place.host} refuses pushes to ${place.branch} (${shown(place, why)})${words}`);
};

const lostReply = (place: Place, failure: GitFailure): string =>
  `${place.host} did not say whether it took the push: ${wordsOf(place, failure)}`;
