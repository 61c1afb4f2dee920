// The value of the annotation janus.io/from-git: the commit that a Transaction takes back, or to which it goes back.

export interface FromGit {
  readonly commit: string;
  /** Whether the Transaction takes the commit back. */
  readonly reverts: boolean;
}

export const fromGitAnnotation = ({ commit, reverts }: FromGit): string => (reverts ? `revert ${commit}` : commit);

/** Reads the annotation; undefined if it names no commit: anybody may write anything there. */
export const fromGitIn = (annotation = ""): FromGit | undefined => {
  const [, revert, commit] = /^(revert )?([0-9a-f]{40}|[0-9a-f]{64})$/u.exec(annotation) ?? [];
  return commit === undefined ? undefined : { commit, reverts: revert !== undefined };
};
