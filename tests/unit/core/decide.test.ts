import { decodeTransaction, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall, Effect, Step } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { arbitraryFault, arbitraryObject } from "./arbitrary-answer.ts";
import { arbitrarySituation } from "./arbitrary-situation.ts";
import { type ApiError, asObject, isObject, type KubeObject, member } from "@janus/types";
import { found, heard } from "./learn.ts";

/** What is wrong with a step. */
/** Whether it can be printed, compared and replayed: nothing in it is a function. */
const isPlain = (value: unknown): boolean => {
  if (typeof value === "function") return false;
  if (typeof value !== "object" || value === null) return true;
  const parts: readonly unknown[] =
    value instanceof Map || value instanceof Set ? [...value] : (Object.values(value) as readonly unknown[]);
  return parts.every(isPlain);
};

const nonsense = (step: Step, now: number): string | undefined => {
  if (!isPlain(step)) return `is not plain data: ${JSON.stringify(step)}`;
  if (step.type === "run" && step.effects.length === 0) return "it runs nothing";
  return step.type === "wait" && step.until < now ? `it waits for what is over: ${step.because}` : undefined;
};

type Answer = E.Either<ApiError, KubeObject>;
const answer: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 2, arbitrary: arbitraryObject.map((one) => E.right(one)) },
  { weight: 1, arbitrary: arbitraryFault.map((one) => E.left(one)) },
);

/** RFC 7386. */
const merged = (at: unknown, patch: unknown): unknown =>
  isObject(patch)
    ? Object.fromEntries(
        Object.entries({ ...asObject(at), ...patch }).flatMap(([name, value]) => {
          const change = member(patch, name);
          if (change === null) return [];
          return [[name, change === undefined ? value : merged(asObject(at)[name], change)]];
        }),
      )
    : patch;

/** What the API server answers to a write that succeeds: what was sent, with a uid and a version. */
const accepted = ({ txn }: ReconcileContext, { call }: ApiCall, other: KubeObject): KubeObject => {
  const { uid = "1", resourceVersion = "1" } = other.metadata;
  const body = "body" in call ? call.body : other;
  const sent = (call.verb === "mergePatch" ? merged(Transaction.encode(txn), body) : body) as KubeObject;
  return { ...sent, metadata: { uid, ...sent.metadata, resourceVersion } };
};

/** The situation after one effect was answered, as the shell folds it in. */
const after = (at: ReconcileContext, effect: Effect, reply: Answer): ReconcileContext => {
  const { now } = at;
  if (effect.purpose === "discover") return { ...at, known: found(at, { effect, found: { others: [] } }, now) };
  if (effect.purpose === "find-owned")
    return { ...at, known: found(at, { effect, found: { owned: [], unlisted: [] } }, now) };
  if (effect.purpose === "find-pods") return { ...at, known: found(at, { effect, found: [] }, now) };
  if (effect.purpose === "find-events") return { ...at, known: found(at, { effect, found: [] }, now) };
  const wrote = effect.call.verb !== "get" && effect.call.verb !== "delete" && E.isRight(reply);
  const answer = wrote ? E.right(accepted(at, effect, reply.right)) : reply;
  const { txn, known, unreadable } = heard(at, effect, answer, now);
  if (unreadable === undefined || E.isLeft(answer)) return { ...at, txn, known };
  // Some situations are none that a controller leaves: it goes on from them all the same.
  const decoded = decodeTransaction(answer.right);
  if (E.isLeft(decoded)) throw new Error(`writes what cannot be read: ${decoded.left}`);
  return { ...at, txn: decoded.right, known };
};

describe("the next step", () => {
  it("is found in every situation, and makes sense: it waits for something to come, or does something", () => {
    fc.assert(
      fc.property(arbitrarySituation, (at) => {
        expect(nonsense(decide(at), at.now)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it("is found again after every answer to the one before, and makes sense", () => {
    fc.assert(
      fc.property(arbitrarySituation, fc.array(answer, { minLength: 1, maxLength: 30 }), (start, answers) => {
        let at = start;
        const left = answers.values();
        for (let steps = 0; steps < 20; steps += 1) {
          const step = decide(at);
          expect(nonsense(step, at.now)).toBeUndefined();
          if (step.type === "done") return;
          if (step.type === "wait") at = { ...at, now: step.until };
          else
            for (const effect of step.effects) {
              const next = left.next();
              if (next.done) return;
              at = after(at, effect, next.value);
            }
        }
      }),
      { numRuns: 150 },
    );
  });

  it("is the same for the same situation, which it leaves as it was", () => {
    fc.assert(
      fc.property(arbitrarySituation, (at) => {
        const shown = () => JSON.stringify(at, (_, value: unknown) => (value instanceof Map ? [...value] : value));
        const before = shown();
        expect(JSON.stringify(decide(at))).toBe(JSON.stringify(decide(at)));
        expect(shown()).toBe(before);
      }),
      { numRuns: 100 },
    );
  });
});
