// The codec of a GitDestination: the folder of a branch to which objects are written.
import {
  boolean,
  described,
  excerpt,
  list,
  optional,
  type Rule,
  satisfying,
  string,
  type TypeOf,
  withDefault,
} from "@janus/api/codec";
import { branch } from "./branch.ts";
import { objectsWith } from "./metadata.ts";
import { NamespacedName } from "./references.ts";
import { GitDestinationStatus } from "./status.ts";

/** The pattern of upstream, which lets `..` through. */
const FOLDER = "^([A-Za-z0-9._-]+/)*[A-Za-z0-9._-]+$";

/** The most bytes of a folder: paths of git may have 4096, and those of objects need the rest. */
const LONGEST_FOLDER = 1024;

/** Matches `.`, `..`, and `.git` with any dots at its end, which Windows, and so `git fsck`, takes for `.git`. */
const FORBIDDEN = /^(?:\.|\.\.|\.git\.*)$/iu;

/** Whether git itself, or a file system, gives this segment of a path a meaning of its own. */
export const isForbiddenSegment = (segment: string): boolean => FORBIDDEN.test(segment);

export const FORBIDDEN_FOLDER = 'baseFolder must not have the segments ".", ".." or ".git"';

const safeFolder: Rule<string> = {
  cel: "!('/' + self.lowerAscii() + '/').matches('/([.]|[.][.]|[.]git[.]*)/')",
  message: FORBIDDEN_FOLDER,
  holds: (folder) => !folder.split("/").some(isForbiddenSegment),
};

const folder: Rule<string> = {
  cel: `self.matches('${FOLDER}')`,
  message:
    "baseFolder must be a relative path of letters, digits, dots, underscores and hyphens, such as clusters/prod",
  holds: (text) => new RegExp(FOLDER, "u").test(text),
};

const Spec = excerpt({
  repoRef: described("The GitRepoConfig of the repository.", NamespacedName),
  branch: described("The branch, one of the repository's allowedBranches.", branch),
  baseFolder: described(
    "The folder in which all files are, such as clusters/prod.",
    satisfying(string({ minLength: 1, maxLength: LONGEST_FOLDER }), folder, safeFolder),
  ),
  exclusiveMode: withDefault(
    false,
    described(
      "Whether nothing is written where the marker in the folder is that of another cluster or destination. Default: false.",
      boolean,
    ),
  ),
  secrets: optional(
    described(
      "How Secrets are written: their data never in plain.",
      excerpt({
        ageRecipients: optional(
          described(
            "Public keys of age for which the data of Secrets are encrypted. Default: Secrets are written without their data.",
            list(string(), { atomic: true }, { maxItems: 100 }),
          ),
        ),
      }),
    ),
  ),
});
export type GitDestinationSpec = TypeOf<typeof Spec>;

export const GitDestination = objectsWith(Spec, GitDestinationStatus);
export type GitDestination = TypeOf<typeof GitDestination>;
