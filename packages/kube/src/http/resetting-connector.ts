// Opens connections that are reset when a request is aborted, so that it cannot land later.
import type { Socket } from "node:net";
import { buildConnector } from "undici";

/**
 * Connects, with TLS for https. A TLS connection that is aborted is reset, not closed.
 *
 * Closing still sends what is in the kernel's buffers: a server that resumes, or a network that recovers, up to minutes later
 * would read a whole write that its sender has long given up (measured: all of a 2 MB request). A reset drops the buffers.
 * This holds for a direct connection; behind a proxy only the proxy can do it.
 */
export const resettingConnector = (options: buildConnector.BuildOptions): buildConnector.connector => {
  const tcp = buildConnector(options);
  const tls = buildConnector(options);
  return ({ protocol, hostname, port, localAddress = null, ...rest }, callback) => {
    const secure = protocol === "https:";
    const to = { hostname, port: port || (secure ? "443" : "80"), localAddress };
    tcp({ ...to, protocol: "http:" }, (error, raw) => {
      if (error !== null) callback(error, null);
      else if (!secure) callback(null, raw);
      else
        tls({ ...rest, ...to, protocol, httpSocket: raw }, (error, socket) => {
          if (error !== null) callback(error, null);
          else callback(null, resetting(socket, raw));
        });
    });
  };
};

/** A TLS socket that is destroyed destroys the one beneath it in turn. */
const resetting = (socket: Socket, raw: Socket): Socket => {
  const destroy = socket.destroy.bind(socket);
  const close = raw.destroy.bind(raw);
  socket.destroy = (error?: Error) => {
    if (error !== undefined)
      raw.destroy = () => {
        raw.destroy = close; // which the reset calls
        raw.resetAndDestroy();
        return raw;
      };
    return destroy(error);
  };
  return socket;
};
