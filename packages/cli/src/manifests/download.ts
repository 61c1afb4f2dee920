// Downloads manifests from a URL, with limits on size and time.
import { reasonOf } from "@janus/kube";
import { Failure } from "../failure.ts";

/** Ten times of what fits into the largest Transaction. */
const MOST_MIB = 32;
const MOST_SECONDS = 60;

/**
 * Downloads what is at this URL.
 *
 * Errors: {@link Failure} for every other answer than success; if it takes longer, or is larger, than any manifests.
 */
export const download = async (url: string): Promise<Uint8Array> => {
  const fail = (why: string) => new Failure(`unable to read URL "${url}": ${why}`);
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(MOST_SECONDS * 1_000) });
    if (!answer.ok) throw fail(`server reported ${answer.status} ${answer.statusText}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      if (bytes > MOST_MIB * 1024 * 1024) throw fail(`it is larger than ${MOST_MIB} MiB`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw fail(
      error instanceof Error && error.name === "TimeoutError" ? `no whole answer in ${MOST_SECONDS}s` : reasonOf(error),
    );
  }
};
