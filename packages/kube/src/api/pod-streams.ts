// The streams of a Pod as data, its log and commands executed in it, and the interface PodStreams that opens them.
import type { Either } from "fp-ts/lib/Either.js";
import type { ApiError } from "@janus/types";
import type { Impersonation } from "./api.ts";

interface OfPod {
  readonly namespace: string;
  /** Of the Pod. */
  readonly name: string;
  /** May be absent if the Pod has one only. */
  readonly container?: string;
  readonly as?: Impersonation;
  /** The purpose of the request, for hooks. Never sent. */
  readonly purpose?: string;
  /** How long the client waits in ms for the stream to begin. Default: the client's. */
  readonly deadline?: number;
}

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod */
export interface LogRequest extends OfPod {
  /** Until the container ends. The deadline does not apply: a kubelet does not answer before the first line. */
  readonly follow?: boolean;
  readonly timestamps?: boolean;
  /** RFC 3339; older lines are left out. */
  readonly sinceTime?: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

export interface ExecRequest extends OfPod {
  /** The program and its arguments; no shell is involved. */
  readonly command: readonly string[];
  /**
   * All that the command can read, for API servers from 1.30 on; absent: it has no stdin. Of a command that ends before it has read all of
   * much, the exit code may be lost, in an error: a kubelet resets the connection.
   */
  readonly stdin?: Uint8Array;
}

export type ExecEvent =
  | { readonly type: "stdout" | "stderr"; readonly bytes: Buffer }
  /** The last event. */
  | { readonly type: "exited"; readonly exitCode: number };

/**
 * The logs of containers, and commands in them. Each stream is one HTTP request over a connection of its own, without retries.
 *
 * A hook sees a log as the get of `pods/log` and a command as the create of `pods/exec`, with PodExecOptions as its body. It is answered with a
 * Status when the stream begins. What the hook answers with instead, an error, ends the stream.
 *
 * Guarantees: it ends after an error, or without one when `signal` is aborted. What is not read by the caller is not read from the
 *             connection.
 * Never: throws or rejects.
 */
export interface PodStreams {
  /**
   * Bytes as they come: neither lines nor characters are kept together. Not guaranteed: that the container has ended when its log has,
   * since the API server does not tell that from a lost kubelet.
   */
  readonly log: (request: LogRequest, signal: AbortSignal) => AsyncIterable<Either<ApiError, Buffer>>;
  /**
   * Executes a command, and yields what it writes, and at last its exit code. The API server asks for the verbs `get` and (from 1.36 on)
   * `create` of `pods/exec`.
   *
   * Guarantees: an exit code only if the command has ended with it, after all that it has written; else an error, or nothing more if `signal` was
   *             aborted. In both cases the command may still be running: nothing that a client can do ends it.
   */
  readonly exec: (request: ExecRequest, signal: AbortSignal) => AsyncIterable<Either<ApiError, ExecEvent>>;
}
