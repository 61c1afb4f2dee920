import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

// Below the ports that Linux (32768) and macOS (49152) give to outgoing connections: a client that keeps trying to reach
// a server that is down would now and then get the server's port for its own, and be connected to itself.
const lowest = 15_000;
const highest = 32_000;

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
    await once(server.close(), "close");
    return true;
  } catch {
    return false;
  }
};

/**
 * Ports of 127.0.0.1 that nobody listens on, and that nobody is given by chance.
 *
 * Never: a promise. Another client may choose the same; the one who comes second does not start, and says so.
 */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
};
