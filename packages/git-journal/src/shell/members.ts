// Makes this replica a member of those that share the branches: its own Lease, and a watch of the Leases of all.
import { type Api, type KubeObject, systemClock } from "@janus/kube";
import {
  candidate,
  type Leader,
  leader,
  leaderRecordOf,
  type LeaderTiming,
  type Log,
  type ObservedLease,
  reportWatchFailure,
  startReflector,
  type Watchdog,
} from "@janus/runtime/parts";
import { leases } from "@janus/types";
import {
  branchLeaseName,
  isMemberLease,
  isSameView,
  memberLease,
  ownerOf,
  type View,
  viewOf,
} from "../core/members.ts";
import { rested } from "./rested.ts";

export interface Members {
  /** Whether it is known who shares the branches. */
  readonly isKnown: () => boolean;
  readonly owns: (branch: string) => boolean;
  /** The Lease of a branch, as it was last seen: whoever takes it over need not watch it as long again. */
  readonly leaseOf: (branch: string) => ObservedLease | undefined;
  /** Leaves its branches to the others. Assumes: this replica holds no Lease of a branch any more. */
  readonly stop: () => Promise<void>;
}

export interface MembersOptions {
  readonly api: Api;
  /** Requests that must not wait for others. */
  readonly renewals: Api;
  readonly namespace: string;
  readonly identity: string;
  readonly timing: LeaderTiming;
  readonly log: Log;
  readonly watchdog: Watchdog;
  /** Called when other replicas may own the branches than before. */
  readonly onChange: () => void;
}

/** The Lease of a replica that has died is deleted after so many times its duration. */
const FORGOTTEN = 10;

const nameOf = ({ metadata: { name = "" } }: KubeObject): string => name;

export const startMembers = (options: MembersOptions): Members => {
  const { api, renewals, namespace, identity, timing, log, watchdog, onChange } = options;
  const aborted = new AbortController();
  const own = { namespace, name: memberLease(identity) };
  const seen = new Map<string, ObservedLease>();
  const loop = watchdog.loop("watch of Leases");
  let membership: Leader | undefined;
  let since: number | undefined;
  let view: View | undefined;
  let cancel: (() => void) | undefined;

  const remove = (name: string, resourceVersion?: string): Promise<unknown> =>
    api.send({
      verb: "delete",
      resource: leases,
      namespace,
      name,
      purpose: "member-lease",
      ...(resourceVersion === undefined ? {} : { preconditions: { resourceVersion } }),
    });

  const forgetDead = (now: number): void => {
    for (const [name, { record, free }] of seen) {
      const isOther = isMemberLease(name) && name !== own.name;
      if (!isOther || record === undefined || now <= free + FORGOTTEN * timing.leaseDuration) continue;
      // A deletion that fails is tried again as long after that.
      seen.set(name, { record, free: now });
      void remove(name, record.resourceVersion);
    }
  };

  /** Looks who shares the branches. A replica without a Lease of its own keeps what it knew: it may be cut off. */
  const look = (): void => {
    cancel?.();
    if (since === undefined) return;
    const now = systemClock.now();
    const held = new Map([...seen].map(([name, { record, free }]) => [name, { holder: record?.holder ?? "", free }]));
    const before = view;
    view = viewOf(held, { identity, since, leaseDuration: timing.leaseDuration }, now);
    if (Number.isFinite(view.until)) cancel = systemClock.after(view.until - now, looking.soon);
    forgetDead(now);
    if (before === undefined || !isSameView(before, view)) onChange();
  };
  const looking = rested("the branches are not shared anew", log, look);

  const reflector = startReflector(
    api,
    { resource: leases, namespace },
    {
      signal: aborted.signal,
      onTurn: loop.heartbeat,
      onError: reportWatchFailure(log, "Leases", leases),
      onEvent: (event) => {
        if (event.type === "deleted") seen.delete(nameOf(event.object));
        if (event.type === "applied") {
          const name = nameOf(event.object);
          const record = leaderRecordOf(event.object);
          const free = candidate.freeFrom(record, seen.get(name), systemClock.now(), { identity, timing });
          seen.set(name, { record, free });
        }
        looking.soon();
      },
    },
  );
  void reflector.done.finally(loop.rest);

  const join = async (): Promise<void> => {
    await reflector.synced;
    while (!aborted.signal.aborted) {
      membership = leader(renewals, { identity, timing, place: own });
      if ((await membership.elected) !== undefined) {
        since = systemClock.now();
        looking.soon();
      }
      const because = await membership.over;
      since = undefined;
      if (!aborted.signal.aborted) log("warn", "this replica is no member any more; trying again", { because });
    }
  };
  const joined = join();

  return {
    isKnown: () => view !== undefined,
    owns: (branch) => view !== undefined && ownerOf(view, branch) === identity,
    leaseOf: (branch) => seen.get(branchLeaseName(branch)),
    stop: async () => {
      aborted.abort();
      looking.stop();
      cancel?.();
      await membership?.leave();
      await joined;
      if (membership !== undefined) await remove(own.name);
    },
  };
};
