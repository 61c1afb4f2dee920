// Asks the servers of all repositories whether they can be used: when something has changed, after failures, and now and then.
import type { Api } from "@janus/kube";
import { defect, type Log, newWorkQueue, wall } from "@janus/runtime/parts";
import { messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Readiness } from "../core/conditions.ts";
import type { Failed } from "../core/configured.ts";
import type { BranchName } from "../core/git/branch-name.ts";
import {
  afterAnswer,
  afterUse,
  askedIn,
  type Checked,
  fingerprintOf,
  lookedAtIn,
  readinessAfter,
} from "../core/repository-check.ts";
import type { Repository } from "../core/located.ts";
import { askServer } from "./ask-server.ts";
import { readCredentials } from "./repository-secret.ts";
import type { WorkDirectory } from "./work-directory.ts";

export interface ChecksOptions {
  readonly api: Api;
  readonly log: Log;
  readonly work: Pick<WorkDirectory, "home" | "places">;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called when something else is known of a repository. */
  readonly onChecked: () => void;
}

export interface RepositoryChecks {
  /** Takes all repositories, by the keys of their GitRepoConfigs; on the left those that cannot be asked. */
  readonly update: (repositories: ReadonlyMap<string, E.Either<Failed, Repository>>) => void;
  /** Called when a worker has used a branch with success. */
  readonly used: (config: string, branch: BranchName) => void;
  /** Maps the keys of GitRepoConfigs to what is known of their repositories. */
  readonly known: () => ReadonlyMap<string, Readiness>;
  readonly stop: () => Promise<void>;
}

/** The most servers that are asked at the same time. */
const CONCURRENCY = 4;
/** The pauses between requests to the API server that fail, in ms. */
const BACKOFF = { first: 1_000, cap: 30_000 };

export const repositoryChecks = ({ api, log, work, env, onChecked }: ChecksOptions): RepositoryChecks => {
  const aborted = new AbortController();
  let repositories: ReadonlyMap<string, E.Either<Failed, Repository>> = new Map();
  const checked = new Map<string, Checked>();

  const repositoryAt = (config: string): Repository | undefined => {
    const one = repositories.get(config);
    return one !== undefined && E.isRight(one) ? one.right : undefined;
  };

  const queue = newWorkQueue({
    concurrency: CONCURRENCY,
    // Servers of one namespace that do not answer keep no other namespace waiting.
    groupOf: (config) => config.slice(0, config.indexOf("/")),
    backoff: BACKOFF,
    observe: (event) => {
      if (event.type === "threw") log("error", "internal error in the check of a repository", defect(event.error));
    },
    work: async (config) => {
      const repository = repositoryAt(config);
      if (repository === undefined) return { type: "done" };
      const read = await readCredentials(api, repository.url, repository.secret);
      if (E.isLeft(read)) {
        log("warn", "the credentials of a repository cannot be read; trying again", {
          config,
          error: messageOf(read.left),
        });
        return { type: "failed" };
      }
      const { version, authentication } = read.right;
      const question = { fingerprint: fingerprintOf(repository), secretVersion: version };
      const before = checked.get(config);
      if (askedIn(before, question, wall()) > 0 && before !== undefined)
        return { type: "after", ms: lookedAtIn(before, wall()) };
      const answer = E.isLeft(authentication)
        ? authentication
        : await askServer(work, repository, authentication.right, env, aborted.signal);
      const now = repositoryAt(config);
      if (aborted.signal.aborted || now === undefined) return { type: "done" };
      const after = afterAnswer(before, question, answer, wall());
      checked.set(config, after);
      onChecked();
      return { type: "after", ms: fingerprintOf(now) === question.fingerprint ? lookedAtIn(after, wall()) : 0 };
    },
  });

  return {
    update: (all) => {
      repositories = all;
      for (const config of checked.keys()) if (repositoryAt(config) === undefined) checked.delete(config);
      for (const config of all.keys()) {
        const repository = repositoryAt(config);
        if (repository === undefined || checked.get(config)?.fingerprint === fingerprintOf(repository)) continue;
        queue.add(config);
      }
    },
    used: (config, branch) => {
      const before = checked.get(config);
      if (before === undefined) return;
      const after = afterUse(before, branch, wall());
      checked.set(config, after);
      if (after.at < before.at) queue.add(config);
    },
    known: () =>
      new Map(
        [...repositories].flatMap(([config]) => {
          const repository = repositoryAt(config);
          const one = checked.get(config);
          return repository !== undefined && one?.fingerprint === fingerprintOf(repository)
            ? [[config, readinessAfter(repository, one)] as const]
            : [];
        }),
      ),
    stop: async () => {
      aborted.abort();
      await queue.drain();
    },
  };
};
