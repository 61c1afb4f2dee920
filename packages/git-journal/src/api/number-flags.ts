// The flags of the controller that take a number, with the least and the greatest that each takes.

export const NUMBER_FLAGS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  "git-batch-max-files": [1, 100_000],
  "git-batch-max-bytes-mib": [1, 1024],
  "git-batch-max-wait-sec": [0, 86_400],
  "git-clone-max-mib": [1, 1_048_576],
  "workers-max-global": [1, 1000],
  "workers-max-per-repo": [1, 1000],
  "leases-renew-sec": [1, 3600],
  "leases-lease-sec": [2, 7200],
  "webhook-port": [0, 65_535],
};

/** @param bounds those of the flag */
export const takesNumber = (flag: string, [least, most]: readonly [number, number]): string =>
  `--${flag} takes a number from ${least} to ${most}`;
