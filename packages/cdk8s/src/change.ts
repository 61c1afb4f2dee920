// The changes of a Transaction construct: create, update, patch, delete and apply, with their options.
import { type ChangeManifest, changeOf, type ContentFrom, type Manifest, type TargetManifest } from "@janus/authoring";
import type { JsonObject } from "@janus/types";
import { ApiObject } from "cdk8s";
import { Construct, type IConstruct } from "constructs";
import type { Gate } from "./gate.ts";
import { type Time, written } from "./time.ts";

export interface ChangeOptions {
  /**
   * Gates that the object must meet before the next change is made, such as `ready` or `condition=Available`.
   * @default - `waitFor` of the Transaction
   */
  readonly waitFor?: readonly Gate[];
  /**
   * How long to wait for `waitFor`.
   * @default - what is left of `timeout` of the Transaction
   */
  readonly waitTimeout?: Time;
  /**
   * Where the content is, for what is large or secret: a key of an immutable ConfigMap or Secret in the namespace of the
   * Transaction, as JSON. That of the object, or the fields of a patch, are left out. Not for a delete.
   * @default - in the Transaction
   */
  readonly contentFrom?: ContentFrom;
}

export interface ExistingObjectOptions extends ChangeOptions {
  /**
   * Makes the change only if the object still has this `metadata.resourceVersion`; otherwise the Transaction fails.
   * @default - any version
   */
  readonly resourceVersion?: string;
}

/** An object that need not be a construct. */
export interface ObjectRef {
  /** `v1`, or `group/version` such as `apps/v1`. */
  readonly apiVersion: string;
  /** Such as `ConfigMap`. */
  readonly kind: string;
  readonly name: string;
  /**
   * The namespace of the object.
   * @default - the namespace of the Transaction; none for cluster-scoped kinds
   */
  readonly namespace?: string;
}

/** What is done to one object by a Transaction. */
export interface Change {
  /** What it is about, in messages: the path of a construct, or kind and name. */
  readonly subject: string;
  /** The object that only the Transaction writes: its chart no longer prints it. */
  readonly object?: ApiObject;
  /** As in `spec.changes`, with what the object is by now. */
  readonly toManifest: () => ChangeManifest;
}

// What is not known is kept, so that it is refused: without a misspelt gate, the Transaction would not wait.
const options = ({
  waitFor,
  waitTimeout,
  resourceVersion,
  ...unknown
}: ExistingObjectOptions): Partial<ChangeManifest> => ({
  ...unknown,
  ...(resourceVersion === undefined ? {} : { resourceVersion }),
  ...(waitFor === undefined ? {} : { waitFor }),
  ...(waitTimeout === undefined ? {} : { waitTimeout: written(waitTimeout) }),
});

/** With its options; its content is where these say that it is. */
const withOptions = ({ content, ...change }: ChangeManifest, more: ExistingObjectOptions): ChangeManifest => ({
  ...change,
  ...(content === undefined || more.contentFrom !== undefined ? {} : { content }),
  ...options(more),
});

const ofWhole = (
  type: "Create" | "Update" | "Apply" | "Replace",
  construct: IConstruct,
  more: ExistingObjectOptions,
): Change => {
  const object = ApiObject.of(construct);
  return {
    subject: object.node.path,
    object,
    toManifest: () => withOptions(changeOf(object.toJson() as Manifest, type), more),
  };
};

const refOf = (of: ObjectRef | IConstruct): { readonly subject: string; readonly target: TargetManifest } => {
  if (!Construct.isConstruct(of)) {
    const { apiVersion, kind, name, namespace } = of;
    const target = { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
    return { subject: `${kind} ${name}`, target };
  }
  const { apiVersion, kind, name, metadata, node } = ApiObject.of(of);
  const { namespace } = metadata;
  return {
    subject: node.path,
    target: { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) },
  };
};

/**
 * The changes of a Transaction. Objects are an `ApiObject`, or any construct that has one as its default child, such
 * as the resources of cdk8s-plus.
 */
export const Change = {
  /** Creates the object; the Transaction fails if it exists. */
  create: (object: IConstruct, more: ChangeOptions = {}): Change => ofWhole("Create", object, more),

  /** Replaces the object; the Transaction fails if it does not exist. What is left out is removed, except metadata. */
  update: (object: IConstruct, more: ExistingObjectOptions = {}): Change => ofWhole("Update", object, more),

  /** Creates the object, or sets its fields if it exists, as `kubectl apply` does. */
  apply: (object: IConstruct, more: ChangeOptions = {}): Change => ofWhole("Apply", object, more),

  /** Deletes the object and creates it, for what cannot be edited, such as the template of a Job; creates it if it does not exist. */
  replace: (object: IConstruct, more: ChangeOptions = {}): Change => ofWhole("Replace", object, more),

  /**
   * Sets these fields of an object that exists (server-side apply), and leaves all others.
   *
   * @param content such as `{ spec: { replicas: 3 } }`
   */
  patch: (
    of: ObjectRef | IConstruct,
    content: Readonly<Record<string, unknown>>,
    more: ExistingObjectOptions = {},
  ): Change => {
    const { subject, target } = refOf(of);
    return {
      subject,
      toManifest: () => withOptions({ target, type: "Patch", content: content as JsonObject }, more),
    };
  },

  /** Deletes an object that exists, and waits until it is gone. */
  delete: (of: ObjectRef | IConstruct, more: ExistingObjectOptions = {}): Change => {
    const { subject, target } = refOf(of);
    return { subject, toManifest: () => ({ target, type: "Delete", ...options(more) }) };
  },
};
