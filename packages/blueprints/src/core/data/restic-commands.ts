// The scripts that run restic: what differs between two of them are arguments, of which no shell makes anything else.
import { plain, type Text } from "../text.ts";

/** Makes the repository where there is none. Restic asks "Is there a repository" of storage that refuses the credentials, too. */
const OPEN = `why=$(restic cat config 2>&1 >/dev/null) || case $why in
*"does not exist"*"Is there a repository"*) restic init >/dev/null || restic cat config >/dev/null;;
*) printf '%s\\n' "$why" >&2; exit 1;;
esac`;

const SCRIPTS = {
  /** tag, path */
  backup: `${OPEN}\nrestic backup --tag "$1" "$2"`,
  /** snapshot, target */
  restoreById: 'restic restore "$1" --target "$2"',
  /** tag, target */
  restoreByTag: 'restic restore --tag "$1" latest --target "$2"',
  /** snapshot, mode */
  stats: 'restic stats "$1" --mode "$2"',
  /** snapshot. One that is not there is as good as deleted. */
  forgetById: 'restic forget "$1"',
  /** tag */
  forgetByTag: `found=$(restic snapshots --tag "$1" --json)
ids=$(printf %s "$found" | grep -o '"short_id":"[0-9a-f]*"' | cut -d'"' -f4) || true
if [ -n "$ids" ]; then restic forget $ids; fi`,
  check: `why=$(restic snapshots --last 2>&1 >/dev/null) || case $why in
*"wrong password"*) echo passwordIncorrect;;
*"does not exist"*"Is there a repository"*) echo repoUnavailable;;
*) printf '%s\\n' "$why" >&2; exit 1;;
esac`,
} as const;

/** Frees the space of what was forgotten. */
const PRUNE = "\nrestic prune";

export interface ResticCommand {
  readonly script: keyof typeof SCRIPTS;
  readonly words: readonly string[];
  readonly prunes?: boolean;
  readonly insecureTls: boolean;
}

/** The words of a command of a container. */
export const resticCommand = ({ script, words, prunes, insecureTls }: ResticCommand): readonly Text[] => {
  const tls = insecureTls ? 'restic() { command restic --insecure-tls "$@"; }\n' : "";
  const text = `set -e\n${tls}${SCRIPTS[script]}${prunes === true ? PRUNE : ""}`;
  // The kubelet makes $ of $$, and the value of a variable of $(NAME).
  return ["sh", "-c", text, "sh", ...words].map((word) => plain(word.replaceAll("$", "$$$$")));
};
