// Bounds the connections of a server.
import type { Server, Socket } from "node:net";

/** Of too many, the oldest connection makes room for the newest, so that nobody who holds theirs open keeps others out, such as the kubelet. */
export const boundConnections = (server: Server, most: number): void => {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket.once("close", () => open.delete(socket)));
    const [oldest] = open;
    if (open.size <= most || oldest === undefined) return;
    open.delete(oldest);
    oldest.destroy();
  });
};
