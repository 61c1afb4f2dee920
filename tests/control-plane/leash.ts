import { spawn } from "node:child_process";
import { once } from "node:events";

/** What must not outlive this process: other processes, and a directory. */
export interface Leash {
  /** `pid` leads a process group of its own (`detached: true`); all of that group is held. */
  readonly hold: (pid: number) => void;
  readonly release: (pid: number) => void;
  /** Kills what is held and deletes the directory; resolves when that is done. */
  readonly end: () => Promise<void>;
}

// Reads what to hold from a pipe whose other end only our process has. The pipe ends with end(), and with our process,
// however that ends: exit, crash, SIGKILL. A shell, because it costs 1 MB and 2 ms.
const guard = `
held=
while read -r verb pid; do
  case $verb in
    hold) held="$held $pid" ;;
    release)
      rest=
      for one in $held; do [ "$one" = "$pid" ] || rest="$rest $one"; done
      held=$rest ;;
  esac
done
for one in $held; do kill -KILL "-$one"; done
tries=0
while rm -rf "$1"; [ -e "$1" ] && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.05; done # against last writes
`;

/**
 * Ties processes and a directory to the life of this process.
 *
 * Guarantees: after {@link Leash.end}, or within seconds after this process is gone in any way, all that is held has
 * been killed (SIGKILL) and `directory` is deleted.
 */
export const leash = (directory: string): Leash => {
  const shell = spawn("/bin/sh", ["-c", guard, "janus-leash", directory], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true, // Ctrl-C in a terminal must not take the guard first
  });
  shell.unref();
  shell.stdin.on("error", () => {}); // someone killed the guard: the next line of this process notices
  const exited = once(shell, "exit");
  return {
    hold: (pid) => shell.stdin.write(`hold ${pid}\n`),
    release: (pid) => shell.stdin.write(`release ${pid}\n`),
    end: async () => {
      shell.ref();
      shell.stdin.end();
      await exited;
    },
  };
};
