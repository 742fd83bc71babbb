/** Where a viewer of a panorama looks first, in degrees: `yaw` to the right of its middle, `pitch` upwards. */
export type StartView = { readonly yaw: number; readonly pitch: number };

/** For attributes and addresses, to a tenth of a degree. */
export const startViewText = ({ yaw, pitch }: StartView): string =>
  [yaw, pitch].map((degrees) => Number(degrees.toFixed(1))).join();
