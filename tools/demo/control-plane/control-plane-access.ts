/** Where the control plane answers, and the key for it. */
export interface ControlPlaneAccess {
  readonly url: string;
  readonly apiKey: string;
  readonly temporalUi: string;
}
