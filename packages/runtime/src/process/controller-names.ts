// The names of a controller in metrics, events and messages.

export interface ControllerNames {
  /** The product in messages, such as `Janus`. */
  readonly product: string;
  /** The names of its metrics begin with it, and it is the source of its events, such as `janus`. */
  readonly prefix: string;
  /** The `reportingComponent` of its events. */
  readonly reportingComponent: string;
  /** The objects that it reconciles, in the plural, such as `Transactions`. */
  readonly objects: string;
}
