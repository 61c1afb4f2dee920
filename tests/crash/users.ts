// The users of a scenario: a namespace of their own, and what they do in it.
import { randomBytes } from "node:crypto";
import { type JsonObject, lockLease } from "@janus/api";
import type { Api, Discovery, KubeObject, ManagedFieldsEntry } from "@janus/kube";
import { must } from "./world.ts";

/** Which object of the namespace. */
export interface Ref {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** A namespace, and what its users do. */
export interface Users {
  readonly namespace: string;
  readonly create: (object: JsonObject) => Promise<KubeObject>;
  /** JSON merge patch of the object that it names. */
  readonly patch: (object: Ref, subresource?: "status") => Promise<KubeObject>;
  /** Server-side apply, as another field manager than those who patch. */
  readonly apply: (object: Ref) => Promise<KubeObject>;
  readonly remove: (ref: Ref) => Promise<void>;
  readonly read: (ref: Ref) => Promise<KubeObject>;
  /** Each object as users have written it last, by `Kind/name`; `undefined`: they have deleted it. */
  readonly done: ReadonlyMap<string, KubeObject | undefined>;
}

const metadataOf = (object: JsonObject): { readonly name: string; readonly [field: string]: unknown } =>
  object["metadata"] as never;

/** Who creates an object: who has updated it, if its managedFields name one. */
const creatorOf = (object: JsonObject): string => {
  const { managedFields = [] } = metadataOf(object) as { managedFields?: readonly ManagedFieldsEntry[] };
  return managedFields.find(({ operation }) => operation === "Update")?.manager ?? "people";
};

/**
 * A new namespace with a ServiceAccount `deploy` that is admin in it. In what is created there, `uid of <Kind>/<name>`
 * stands for the uid of an object that was created before, and `lock of <Kind>/<name>` for the name of the Lease that locks
 * an object of the core group.
 */
export const newUsers = async (api: Api, find: Discovery): Promise<Users> => {
  const namespace = `crash-${randomBytes(5).toString("hex")}`;
  const done = new Map<string, KubeObject | undefined>();
  const uids = new Map<string, string>();
  const resource = async ({ apiVersion, kind }: Pick<Ref, "apiVersion" | "kind">) =>
    must(await find.resource(apiVersion, kind));

  const filledIn = (object: JsonObject): JsonObject =>
    JSON.parse(
      JSON.stringify(object)
        .replaceAll(/uid of (\w+\/[\w-]+)/g, (_, key: string) => uids.get(key) ?? "unknown")
        .replaceAll(/lock of (\w+)\/([\w-]+)/g, (_, kind: string, name: string) =>
          lockLease({ group: "", kind, namespace, name }),
        ),
    ) as JsonObject;

  const naming = ({ kind, metadata: { name } }: Ref): { readonly kind: string; readonly name: string } => ({
    kind,
    name: filledIn({ name })["name"] as string,
  });

  const create = async (written: JsonObject): Promise<KubeObject> => {
    const object = filledIn(written);
    const kind = object["kind"] as string;
    const { name } = metadataOf(object);
    const made = must(
      await api.send({
        verb: "create",
        resource: await resource(object as never),
        namespace,
        body: { ...object, metadata: { ...metadataOf(object), namespace } },
        fieldManager: creatorOf(object),
      }),
    );
    uids.set(`${kind}/${name}`, made.metadata.uid ?? "");
    done.set(`${kind}/${name}`, made);
    return made;
  };

  must(
    await api.send({
      verb: "create",
      resource: await resource({ apiVersion: "v1", kind: "Namespace" }),
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    }),
  );
  await create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "deploy" } });
  await create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "deploy" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: "deploy", namespace }],
  });

  return {
    namespace,
    done,
    create,
    patch: async (object, subresource) => {
      const { name, kind } = naming(object);
      const patched = must(
        await api.send({
          verb: "mergePatch",
          resource: await resource(object),
          namespace,
          name,
          ...(subresource === undefined ? {} : { subresource }),
          body: { ...object, metadata: { ...object.metadata, name } },
          fieldManager: "people",
        }),
      );
      done.set(`${kind}/${name}`, patched);
      return patched;
    },
    apply: async (object) => {
      const { name, kind } = naming(object);
      const applied = must(
        await api.send({
          verb: "apply",
          resource: await resource(object),
          namespace,
          name,
          body: object,
          fieldManager: "applier",
          force: true,
        }),
      );
      done.set(`${kind}/${name}`, applied);
      return applied;
    },
    remove: async (ref) => {
      const { name, kind } = naming(ref);
      must(await api.send({ verb: "delete", resource: await resource(ref), namespace, name }));
      done.set(`${kind}/${name}`, undefined);
    },
    read: async (ref) =>
      must(await api.send({ verb: "get", resource: await resource(ref), namespace, name: naming(ref).name })),
  };
};
