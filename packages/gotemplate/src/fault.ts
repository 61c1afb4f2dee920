// What ends a template early; thrown and caught within this package only.

export class Fault extends Error {
  readonly missing: { readonly key: string; readonly expression: string } | undefined;
  constructor(message: string, missing?: { readonly key: string; readonly expression: string }) {
    super(message);
    this.missing = missing;
  }
}
