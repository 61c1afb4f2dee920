/** Where a kind is served. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Whether `.status` is a subresource of its own, so that writes to the object leave it alone. */
  readonly statusSubresource: boolean;
  /** Its objects cannot be read, or not written: they are questions (a SubjectAccessReview) or views, and nothing is kept. */
  readonly isVirtual?: true;
}
