// The construct of a Profile: where backups are kept.
import { GROUP, profileProblems, VERSION } from "@janus/blueprints/authoring";
import { ApiObject, type ApiObjectMetadata } from "cdk8s";
import { Construct } from "constructs";

/** The name of a Secret. */
export interface SecretRef {
  readonly name: string;
  /** @default - that of the Profile */
  readonly namespace?: string;
}

export interface ProfileLocation {
  readonly type: "s3Compliant" | "gcs" | "azure" | "kopia";
  /** @default - none, of `kopia` */
  readonly bucket?: string;
  /** @default - that of the provider */
  readonly endpoint?: string;
  /** @default - none */
  readonly prefix?: string;
  /** @default - none */
  readonly region?: string;
}

export type ProfileCredential =
  | {
      readonly type: "keyPair";
      readonly keyPair: { readonly idField: string; readonly secretField: string; readonly secret: SecretRef };
    }
  | { readonly type: "secret"; readonly secret: SecretRef };

export interface ProfileProps {
  readonly location: ProfileLocation;
  readonly credential: ProfileCredential;
  /** @default false */
  readonly skipSSLVerify?: boolean;
  /** @default - a name from its path, namespace and labels of the chart */
  readonly metadata?: ApiObjectMetadata;
}

/** Where backups are kept, and the credentials for it, which are in a Secret. */
export class Profile extends Construct {
  /** The object that is printed. */
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, { metadata, ...fields }: ProfileProps) {
    super(scope, id);
    this.apiObject = new ApiObject(this, "Resource", {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: "Profile",
      ...(metadata === undefined ? {} : { metadata }),
      ...fields,
    });
    this.node.addValidation({ validate: () => [...profileProblems(this.apiObject.toJson())] });
  }

  get name(): string {
    return this.apiObject.name;
  }
}
