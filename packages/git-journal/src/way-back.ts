// The parts of the Git journal that kubectl janus plan --from-git uses: files of commits, and the changes that follow from them.
export { GitDestination } from "./api/git-destination.ts";
export { defaultBranch, GitRepoConfig } from "./api/git-repo-config.ts";
export { gitDestinations, gitRepoConfigs } from "./api/names.ts";
export { identitiesOf } from "./core/age-keys.ts";
export { type Authentication, authenticationFor } from "./core/credentials.ts";
export { type FilesOfCommit, filesOfCommit, type Unused } from "./core/files-of-commit.ts";
export {
  changeTo,
  conflicting,
  type Goal,
  goalsOf,
  goalsOfRevert,
  isConflict,
  type ObjectChange,
  type RevertedGoal,
} from "./core/from-git.ts";
export { fromGitAnnotation } from "./core/from-git-annotation.ts";
export { branchName, refOf } from "./core/git/branch-name.ts";
export { type GitFailure, type Place, shown, verdict } from "./core/git/git-answer.ts";
export type { ObjectId } from "./core/git/object-id.ts";
export {
  isObjectPath,
  isPathInNamespace,
  objectFile,
  type ObjectFileVerdict,
  objectName,
  statedFields,
} from "./core/object-file.ts";
export type { Owner } from "./core/ownership.ts";
export { type RepositoryUrl, repositoryUrl } from "./core/repository-url.ts";
export { scrubber } from "./core/scrub.ts";
export type { Tree, TreeEntry } from "./core/tree.ts";
export { DEADLINES } from "./shell/bare-clone.ts";
export { ASKPASS, withAccess } from "./shell/credentials.ts";
export { type Git, gitIn, printed } from "./shell/git.ts";
export { gitEnvironment } from "./shell/git-environment.ts";
export { commitNamed, parentsOf, textsOf, treeAt } from "./shell/read-commit.ts";
export { ownersOf } from "./shell/read-markers.ts";
export { decrypted } from "./shell/sops.ts";
