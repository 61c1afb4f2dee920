// Points in time as Go has them: seconds and nanoseconds, and the zone that they are shown in.

export interface GoTime {
  /** Since 1970, UTC. */
  readonly seconds: bigint;
  readonly nanos: number;
  /** How the zone is abbreviated. */
  readonly zone: string;
  /** Of the zone, in seconds east of UTC. */
  readonly offset: number;
}

export const timeOfDate = (date: Date): GoTime => {
  const ms = date.getTime();
  const seconds = Math.floor(ms / 1000);
  return { seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1_000_000, zone: "UTC", offset: 0 };
};
