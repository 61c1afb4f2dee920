// An object whose name contains a hash of its content, so that another content makes another object.
import { createHash } from "node:crypto";
import type { Manifest } from "@janus/authoring";
import { ApiObject, type ApiObjectProps, Names } from "cdk8s";
import type { Construct } from "constructs";

const HASH = 8;

/** As long as its snapshots are named after a Transaction, this leaves room for their suffix in a DNS label. */
const LONGEST = 50;

/** What it does, and not whether it is published yet: that may change. */
const contentOf = (spec: Readonly<Record<string, unknown>>): object => {
  const { lifecycle: _, approvedDigest: __, ...content } = spec;
  return content;
};

/**
 * An object whose spec cannot be changed but for its lifecycle: unless it has a name, another spec, or the same one in
 * another run, gives it another one.
 */
export class NamedByContent extends ApiObject {
  readonly #isNamed: boolean;
  readonly #run: string | undefined;

  constructor(scope: Construct, id: string, { run, ...props }: ApiObjectProps & { readonly run: string | undefined }) {
    const name = props.metadata?.name ?? Names.toDnsLabel(scope, { includeHash: false, maxLen: LONGEST - 1 - HASH });
    super(scope, id, { ...props, metadata: { ...props.metadata, name } });
    this.#run = run;
    this.#isNamed = props.metadata?.name !== undefined;
  }

  override toJson(): Manifest {
    const manifest = super.toJson() as Manifest;
    if (this.#isNamed) return manifest;
    const content = contentOf(manifest["spec"] as Readonly<Record<string, unknown>>);
    const hashed = JSON.stringify(this.#run === undefined ? content : [content, this.#run]);
    const hash = createHash("sha256").update(hashed).digest("hex").slice(0, HASH);
    const { metadata } = manifest;
    return { ...manifest, metadata: { ...metadata, name: `${metadata.name}-${hash}` } };
  }
}
