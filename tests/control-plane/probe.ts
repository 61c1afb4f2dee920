import { readFile } from "node:fs/promises";
import https from "node:https";
import type { Facts } from "./state.ts";

interface Identity {
  readonly "client-certificate-data": string;
  readonly "client-key-data": string;
}

const identityIn = async (kubeconfig: string): Promise<Identity> =>
  (JSON.parse(await readFile(kubeconfig, "utf8")) as { users: readonly [{ user: Identity }] }).users[0].user;

/** Whether a GET of `path`, as the administrator, is answered with 200. Never rejects. */
export const answers = async (
  { url, ca, kubeconfig }: Pick<Facts, "url" | "ca" | "kubeconfig">,
  path: string,
): Promise<boolean> => {
  const identity = await identityIn(kubeconfig).catch(() => undefined);
  if (identity === undefined) return false;
  const [cert, key] = [identity["client-certificate-data"], identity["client-key-data"]].map((text) =>
    Buffer.from(text, "base64"),
  );
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(2000);
    https
      .get(`${url}${path}`, { ca, cert, key, agent: false, signal }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      })
      .on("error", () => resolve(false));
  });
};
