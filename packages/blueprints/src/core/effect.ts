// Effects of the controller as plain data: requests to the API server, and what is to be followed while it waits.
import type { Request } from "@janus/kube";
import type { Step as AnyStep } from "@janus/runtime";
import type { NewEvent, Watched } from "@janus/runtime/parts";

/** One request. A `list` stands for all of its pages. */
export interface Effect {
  /** A label in logs and metrics, such as `journal`. */
  readonly purpose: string;
  /** The name under which the answer is remembered. */
  readonly fact: string;
  /** The ServiceAccount, in the namespace of the ActionSet, as which it is sent. Absent: as the controller. */
  readonly as?: string;
  readonly request: Request;
  /** Whether an answer that nothing is served at its path counts; else it is trouble, such as that of a proxy. */
  readonly mayBeUnserved?: true;
  /** Recorded when it has succeeded. */
  readonly events?: readonly StepEvent[];
}

/** An event that is recorded once, however often it is told: its name comes from the step. */
export interface StepEvent extends NewEvent {
  /** The step, such as `0/dump/started`. */
  readonly step: string;
  /** The name of the phase that it is about. */
  readonly phase?: string;
  /** The Blueprint on which it is recorded, too. */
  readonly blueprint?: string;
}

/** The log of a container. */
export interface LogSource {
  /** The phase that reads it, see {@link phaseKey}. */
  readonly phase: string;
  readonly as: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The container has ended: what it has written is all there is. */
  readonly isOver: boolean;
}

/** A command in a container. It is started once, however often it is asked for. */
export interface ExecSource {
  /** The key of this command in this try of its phase. */
  readonly key: string;
  readonly as: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  /** All that the command can read, which may be secret. Absent: it has no stdin. */
  readonly stdin?: string;
  /** Whether its end is known. */
  readonly isTold: boolean;
}

/** While it waits, these objects are watched, these logs followed, and these commands executed. */
export type Step = AnyStep<Effect> & {
  /** Whether the ActionSet waits for its turn among all that are executed. */
  readonly isQueued?: true;
  readonly watched?: readonly Watched[];
  readonly follow?: readonly LogSource[];
  readonly execs?: readonly ExecSource[];
};
