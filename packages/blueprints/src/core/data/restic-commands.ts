// The scripts that run restic: what differs between two of them are arguments, of which no shell makes anything else.
import { shortHash } from "../names.ts";
import { type PhaseContext, phaseOf } from "../phase-context.ts";
import { plain, type Text } from "../text.ts";

/** The variable with the key of a service account of Google. */
export const SERVICE_KEY = "GOOGLE_SERVICE_KEY";

/** Restic takes that key from a file, which nobody else may read and which is gone with the script. */
const WRITE_KEY = `if [ -n "\${${SERVICE_KEY}-}" ]; then
export GOOGLE_APPLICATION_CREDENTIALS=$(mktemp)
trap 'rm -f "$GOOGLE_APPLICATION_CREDENTIALS"' EXIT
printf %s "$${SERVICE_KEY}" > "$GOOGLE_APPLICATION_CREDENTIALS"
unset ${SERVICE_KEY}
fi`;

/** Makes the repository where there is none. Restic asks "Is there a repository" of storage that refuses the credentials, too. */
const OPEN = `why=$(restic cat config 2>&1 >/dev/null) || case $why in
*"does not exist"*"Is there a repository"*) restic init >/dev/null || restic cat config >/dev/null;;
*) printf '%s\\n' "$why" >&2; exit 1;;
esac`;

/** The backups that have the tag, oldest first. */
const FIND = `found=$(restic snapshots --tag "$1" --json)
ids=$(printf %s "$found" | grep -o '"short_id":"[0-9a-f]*"' | cut -d'"' -f4) || true`;

/** An earlier try of the same may run on in a container that is not our own: it has the same words, and a smaller number. */
const AWAIT_EARLIER = `for process in $(grep -lsF -e "$1" /proc/[0-9]*/cmdline); do
number=\${process#/proc/}
while [ "\${number%/*}" -lt $$ ] && grep -qsF -e "$1" "$process"; do sleep 1; done
done`;

/** A backup that an earlier try has made, in the words of one that is made now. */
const TELL_FOUND = `for id in $ids; do
printf 'snapshot %s saved\\n' "$id"
restic stats "$id" --mode restore-size
printf 'Files: %s\\n' "$(restic ls "$id" --json | grep -c '"type":"file"')"
exit
done`;

/**
 * Restic is heard by the script alone, so that it comes to its end when nobody listens any more. It exits with 3 where it could not
 * read all: such a backup is deleted, or a later try would find it.
 */
const BACK_UP = `said=$(restic backup --tag "$1" "$2" 2>&1) || {
code=$?
if [ $code = 3 ]; then
${FIND}
until why=$(restic forget $ids 2>&1); do
case $why in
*"already locked"*) restic unlock; sleep 5;;
*) said="$said
the incomplete backup is left: $why"; break;;
esac
done
fi
printf '%s\\n' "$said" >&2
exit $code
}
printf '%s\\n' "$said"`;

const SCRIPTS = {
  /** tag, path. Once in effect, however often it is tried: a backup that has the tag is the result. */
  backup: [AWAIT_EARLIER, OPEN, FIND, TELL_FOUND, BACK_UP].join("\n"),
  /** snapshot, target */
  restoreById: 'restic restore "$1" --target "$2"',
  /** tag, `latest` (and what of it), target */
  restoreByTag: 'restic restore --tag "$1" "$2" --target "$3"',
  /** snapshot, mode */
  stats: 'restic stats "$1" --mode "$2"',
  /** snapshot. One that is not there is as good as deleted. */
  forgetById: 'restic forget "$1"\nprune',
  /** tag */
  forgetByTag: `${FIND}
if [ -n "$ids" ]; then restic forget $ids; fi
prune`,
  /** for each its repository, below that of the environment, and snapshot */
  forgetEach: `base=$RESTIC_REPOSITORY
while [ $# -gt 0 ]; do
RESTIC_REPOSITORY=$base/$1
restic forget "$2"
prune
shift 2
done`,
  check: `why=$(restic snapshots --last 2>&1 >/dev/null) || case $why in
*"wrong password"*) echo passwordIncorrect;;
*"does not exist"*"Is there a repository"*) echo repoUnavailable;;
*) printf '%s\\n' "$why" >&2; exit 1;;
esac`,
} as const;

export interface ResticCommand {
  readonly script: keyof typeof SCRIPTS;
  readonly words: readonly string[];
  /** The space of what was forgotten is freed. */
  readonly prunes?: boolean;
  readonly insecureTls: boolean;
}

/** The words of the command. */
export const resticWords = ({ script, words, prunes, insecureTls }: ResticCommand): readonly string[] => {
  const functions = [
    ...(insecureTls ? ['restic() { command restic --insecure-tls "$@"; }'] : []),
    `prune() { ${prunes === true ? "restic prune" : ":"}; }`,
  ];
  return ["sh", "-c", ["set -e", WRITE_KEY, ...functions, SCRIPTS[script]].join("\n"), "sh", ...words];
};

/** The words for the spec of a Pod, in which the kubelet replaces `$$` by `$`, and `$(NAME)` by the value of a variable. */
export const resticCommand = (command: ResticCommand): readonly Text[] =>
  resticWords(command).map((word) => plain(word.replaceAll("$", "$$$$")));

/** The tag of the backup that a phase makes, in whatever attempt. @param of which of several */
export const tagOf = (context: PhaseContext, of = ""): string =>
  shortHash([context.seed, phaseOf(context), "tag", of].join("/"));
