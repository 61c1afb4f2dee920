// An artifact that one action produces and another one is given.
import { memberOf } from "./phase.ts";

/** What an action leaves behind for another one, such as where a backup is. */
export class Artifact<Key extends string = string> {
  readonly name: string;
  /** Templates of what it has, such as `dump.output("id")`. */
  readonly keyValue: Readonly<Record<Key, string>>;

  constructor(name: string, keyValue: Readonly<Record<Key, string>>) {
    this.name = name;
    this.keyValue = keyValue;
  }

  /** A value of it, for phases of an action that has it among its `inputArtifacts`: a template, which may be a part of a text. */
  value(key: Key): string {
    return `{{ ${memberOf(`${memberOf(".ArtifactsIn", this.name)}.KeyValue`, key)} }}`;
  }
}
