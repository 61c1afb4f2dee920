// Decodes the objects of the four kinds: one that is wrong says which field, and disturbs no other.
import { report } from "@janus/api";
import type { Codec, TypeOf } from "@janus/api/codec";
import { type KubeObject, memoized, without } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { GitDestination } from "../api/git-destination.ts";
import { GitRepoConfig } from "../api/git-repo-config.ts";
import { ClusterWatchRule, WatchRule } from "../api/watch-rule.ts";
import type { Readiness } from "./conditions.ts";

export type Failed = Extract<Readiness, { readonly type: "failed" }>;

export const CODECS = { GitRepoConfig, GitDestination, WatchRule, ClusterWatchRule } as const;
export type Kind = keyof typeof CODECS;
export const KINDS = Object.keys(CODECS) as readonly Kind[];

/** The objects of the four kinds, as they are read. */
export type Objects = Readonly<Record<Kind, readonly KubeObject[]>>;

/** The key `namespace/name` of an object, or `name`. */
export const objectKey = ({ metadata: { namespace, name = "" } }: Pick<KubeObject, "metadata">): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** The name of an object among those of all four kinds, as messages have it, such as `WatchRule shop/all`. */
export const objectId = (kind: Kind, key: string): string => `${kind} ${key}`;

/** Makes a failure that stays until somebody changes the object. */
export const refused = (reason: string, message: string): Failed => ({ type: "failed", reason, message, lasts: true });

const decodedAs = <A>(codec: Codec<A>, object: KubeObject): E.Either<Failed, A> => {
  // The status, which a controller has written, is no reason to refuse what a user wrote.
  const decoded = codec.decode(without(object, ["status"]));
  return E.mapLeft((errors: Parameters<typeof report>[0]) => refused("InvalidSpec", report(errors)))(decoded);
};

export type Decoded = { readonly [K in Kind]: ReadonlyMap<string, E.Either<Failed, TypeOf<(typeof CODECS)[K]>>> };

/** Remembers results: most objects are the same as the last time. */
const decoding = <A>(codec: Codec<A>) => memoized((object: KubeObject) => decodedAs(codec, object));

const DECODE = {
  GitRepoConfig: decoding(GitRepoConfig),
  GitDestination: decoding(GitDestination),
  WatchRule: decoding(WatchRule),
  ClusterWatchRule: decoding(ClusterWatchRule),
};

const allOf = <A>(
  decode: (object: KubeObject) => E.Either<Failed, A>,
  objects: readonly KubeObject[],
): ReadonlyMap<string, E.Either<Failed, A>> =>
  new Map(
    objects.map((object) => [objectKey(object), decode(object)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Decodes all objects of each kind, by their keys and in the order of these. */
export const decodedObjects = (objects: Objects): Decoded => ({
  GitRepoConfig: allOf(DECODE.GitRepoConfig, objects.GitRepoConfig),
  GitDestination: allOf(DECODE.GitDestination, objects.GitDestination),
  WatchRule: allOf(DECODE.WatchRule, objects.WatchRule),
  ClusterWatchRule: allOf(DECODE.ClusterWatchRule, objects.ClusterWatchRule),
});

/** Returns those that could be decoded. */
export const rightOnes = <A>(all: ReadonlyMap<string, E.Either<Failed, A>>): ReadonlyMap<string, A> =>
  new Map([...all].flatMap(([key, one]) => (E.isRight(one) ? [[key, one.right] as const] : [])));
