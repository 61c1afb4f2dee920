export interface NamespacedProps {
  /**
   * Namespace of the controller.
   * @default "janus-system"
   */
  readonly namespace?: string;
}
