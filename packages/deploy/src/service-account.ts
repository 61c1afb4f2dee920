// The prop for the name of the controller's ServiceAccount.
import { CONTROLLER_NAME } from "@janus/api";

export interface ServiceAccountProps {
  /**
   * The ServiceAccount of the controller.
   * @default "janus-controller", which is created
   */
  readonly serviceAccount?: {
    /**
     * Whether it is created. Otherwise it must exist.
     * @default true
     */
    readonly create?: boolean;
    /**
     * Its name.
     * @default "janus-controller"
     */
    readonly name?: string;
    /**
     * Its annotations.
     * @default none
     */
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Name of the controller's ServiceAccount. */
export const serviceAccountNameOf = ({ serviceAccount }: ServiceAccountProps): string =>
  serviceAccount?.name ?? CONTROLLER_NAME;
