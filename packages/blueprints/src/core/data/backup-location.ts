// The place where the backups of an action are kept: its Profile, with the credentials for it.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { isGiven, type ObjectReference } from "../../api/object-reference.ts";
import { Profile } from "../../api/profile.ts";
import { namedObject } from "../named-objects.ts";
import { show } from "../names.ts";
import { inquiryOf, type PhaseContext, type PhaseStep } from "../phase-context.ts";

export interface BackupLocation {
  /** Namespace and name of the Profile, for messages. */
  readonly shown: string;
  readonly location: NonNullable<Profile["location"]>;
  readonly credential: NonNullable<Profile["credential"]>;
  readonly skipSSLVerify: boolean;
  /** The Secret with the credentials. */
  readonly secret: KubeObject;
}

const fail = (message: string): PhaseStep => ({ type: "fail", message });

/** Reads an object. Left: what is to be done first, or why it cannot be read. */
const read = (
  context: PhaseContext,
  kind: "Profile" | "Secret",
  ref: ObjectReference,
  own: string,
): E.Either<PhaseStep, KubeObject> => {
  const inquiry = inquiryOf(context);
  const found = namedObject(inquiry, kind, ref, own, context.serviceAccount);
  return found === undefined ? E.left({ type: "run", effects: inquiry.missing }) : E.mapLeft(fail)(found);
};

/** Finds the place of the backups. Left: what is to be done first, or why there is no such place. */
export const backupLocation = (context: PhaseContext): E.Either<PhaseStep, BackupLocation> => {
  const { profile, actionSet } = context;
  if (profile === undefined || !isGiven(profile.name))
    return E.left(fail("there is no Profile: name one in spec.actions[].profile of the ActionSet"));
  const found = read(context, "Profile", profile, actionSet.metadata.namespace);
  if (E.isLeft(found)) return found;
  const { namespace = "", name = "" } = found.right.metadata;
  const shown = show({ namespace, name });
  const decoded = Profile.decode(found.right);
  if (E.isLeft(decoded)) return E.left(fail(`Profile ${shown} is not valid`));
  const { location = {}, credential = {}, skipSSLVerify = false } = decoded.right;
  if (location.type === "kopia" || credential.kopiaServerSecret !== undefined)
    return E.left(fail(`Profile ${shown} is of type kopia: this function needs a Profile of object storage`));
  const secret = credential.keyPair?.secret ?? credential.secret;
  if (secret === undefined) return E.left(fail(`Profile ${shown} names no Secret in its credential`));
  return E.map((stored: KubeObject) => ({ shown, location, credential, skipSSLVerify, secret: stored }))(
    read(context, "Secret", secret, namespace),
  );
};

/** Reads a value of the Secret. Left: the key that it does not have. */
export const credentialOf = ({ secret, shown }: BackupLocation, key: string): E.Either<string, string> => {
  const value = asObject(secret["data"])[key];
  const { namespace = "", name = "" } = secret.metadata;
  return typeof value === "string"
    ? E.right(Buffer.from(value, "base64").toString())
    : E.left(`Secret ${show({ namespace, name })} has no key "${key}" (Profile ${shown})`);
};

/** A pair of credentials. The names of its keys are those of the Profile, else Kanister's. */
export const pairOf = (
  place: BackupLocation,
  id: string,
  secret: string,
): E.Either<string, readonly [string, string]> => {
  const { idField, secretField } = place.credential.keyPair ?? {};
  return E.flatMap((first: string) =>
    E.map((second: string): readonly [string, string] => [first, second])(
      credentialOf(place, isGiven(secretField) ? secretField : secret),
    ),
  )(credentialOf(place, isGiven(idField) ? idField : id));
};

/** The JSON that `kando --profile` takes. */
export const kandoProfile = (place: BackupLocation): E.Either<string, string> => {
  const { location, credential, skipSSLVerify, secret } = place;
  const { type = "", bucket = "", endpoint = "", prefix = "", region = "" } = location;
  const shown = (fields: JsonObject): string =>
    JSON.stringify({
      Location: { type, bucket, endpoint, prefix, region },
      Credential: { Type: credential.type ?? "", KeyPair: null, Secret: null, KopiaServerSecret: null, ...fields },
      SkipSSLVerify: skipSSLVerify,
    });
  if (credential.keyPair === undefined) {
    const { namespace = "", name = "" } = secret.metadata;
    const { data = {}, type: of = "Opaque" } = secret as unknown as JsonObject;
    return E.right(shown({ Secret: { metadata: { name, namespace }, data, type: of } }));
  }
  return E.map(([ID, Secret]: readonly [string, string]) => shown({ KeyPair: { ID, Secret } }))(
    pairOf(place, "aws_access_key_id", "aws_secret_access_key"),
  );
};
