// The environment of every git process, and nothing else: no file of the system, of the user or of a repository has a say.

/** The access to one repository: headers, keys, certificates. */
export interface Access {
  /** The only protocol that git may speak, such as `https`. */
  readonly protocol: string;
  readonly config: readonly (readonly [key: string, value: string])[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Surroundings {
  /** The clone. */
  readonly directory: string;
  /** An empty folder. */
  readonly home: string;
  /** The URL, without credentials. */
  readonly url: string;
  readonly access: Access;
  /** The environment of this process: only its path of programs and its proxies are passed on. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PASSED = ["PATH", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"];

/** The most bytes that are sent in one piece: some servers refuse requests in chunks. */
const POST_BUFFER = 16 * 1024 * 1024;

const CONFIG: readonly (readonly [key: string, value: string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["credential.helper", ""],
  ["http.followRedirects", "false"],
  ["http.postBuffer", `${POST_BUFFER}`],
  ["transfer.fsckObjects", "true"],
  // Larger files are written as they come: one that is sent as a few KiB may fill any memory.
  ["core.bigFileThreshold", "16m"],
  ["protocol.version", "2"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/** Returns the environment for git. */
export const gitEnvironment = ({ directory, home, url, access, env }: Surroundings): Record<string, string> => {
  const config = [...CONFIG, ["remote.origin.url", url] as const, ...access.config];
  return {
    ...Object.fromEntries(
      PASSED.flatMap((name) => {
        const value = env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    GIT_DIR: directory,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: access.protocol,
    LC_ALL: "C",
    GIT_CONFIG_COUNT: `${config.length}`,
    ...Object.fromEntries(
      config.flatMap(([key, value], n) => [
        [`GIT_CONFIG_KEY_${n}`, key],
        [`GIT_CONFIG_VALUE_${n}`, value],
      ]),
    ),
    ...access.env,
  };
};
