// The prop for the namespace of an object.
export interface NamespacedProps {
  /**
   * Namespace of the controller.
   * @default "janus-system"
   */
  readonly namespace?: string;
}
