import type { Replicas } from "./replicas.ts";
import { dim, green, say } from "./say.ts";

/** Ends with what is its own: it begins with the name of the machine. */
const short = (identity: string): string => (identity.length > 20 ? `…${identity.slice(-12)}` : identity);

const row = (name: string, leader: string, term: string, fence: string, identity: string): void =>
  say(`${name.padEnd(23)}  ${leader}  ${term.padEnd(4)}  ${fence.padEnd(7)}  ${dim(identity)}`, 2);

/** What both say at `/status`, one below the other. */
export const showStatus = async ({ all }: Replicas): Promise<void> => {
  row("GET /status", "leader", "term", "fence", "identity");
  for (const { name, pid, status } of all) {
    const said = await status();
    const who = said === undefined ? `${name} (${pid() === undefined ? "dead" : "silent"})` : `${name} (pid ${pid()})`;
    if (said === undefined) say(`${who.padEnd(23)}  ${dim("no answer")}`, 2);
    else
      row(
        who,
        (said.leader ? green : dim)(`${said.leader}`.padEnd(6)),
        `${said.term}`,
        said.fence,
        short(said.identity),
      );
  }
};
