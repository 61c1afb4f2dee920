import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import type { Connection, Credentials } from "@janus/kube";
import { onTestFinished } from "vitest";

/** A server on loopback for one test, and its connections in the order in which they were made. */
export interface Loopback {
  readonly port: number;
  readonly url: string;
  readonly sockets: readonly Socket[];
}

const listening = async (server: Server): Promise<Loopback> => {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    sockets.push(socket);
    socket.on("error", () => {}); // of resets, which some tests are about
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, sockets };
};

export const httpServer = (answer: RequestListener): Promise<Loopback> => listening(createServer(answer));

export const tcpServer = (onConnection: (socket: Socket) => void): Promise<Loopback> =>
  listening(createTcpServer({ noDelay: true }, onConnection));

export const connectionTo = (server: string, credentials: Partial<Credentials> = {}): Connection => ({
  server,
  namespace: undefined,
  proxy: undefined,
  credentials: () => Promise.resolve({ headers: {}, tls: {}, ...credentials }),
});
