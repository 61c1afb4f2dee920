// Reads from /proc what a process has used: CPU time and resident memory.
import { readFileSync, writeFileSync } from "node:fs";

export interface Use {
  /** CPU time so far, in s. */
  readonly cpu: number;
  /** The same with that of its children that have ended, such as git. */
  readonly cpuOfAll: number;
  /** Resident memory now, in MiB. */
  readonly resident: number;
  /** The most that it ever was, or since {@link forgetPeak}, in MiB. */
  readonly peak: number;
}

/** USER_HZ of Linux. */
const TICKS_PER_SECOND = 100;

export const useOf = (pid: number | undefined): Use => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mib = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "mu").exec(status)?.[1] ?? Number.NaN) / 1024;
  // The name of the program, in parentheses, may have spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const seconds = (until: number): number =>
    fields.slice(11, until).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  return { cpu: seconds(13), cpuOfAll: seconds(15), resident: mib("VmRSS"), peak: mib("VmHWM") };
};

export const forgetPeak = (pid: number | undefined): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");
