declare module "pannellum/build/pannellum.js";

/** What we use of pannellum 2.5, which comes without types and puts itself on the window. */
interface Window {
  readonly pannellum: {
    viewer(element: HTMLElement, options: Readonly<Record<string, unknown>>): Pannellum;
  };
}

type Pannellum = {
  on(event: "load" | "error", listener: (message?: string) => void): Pannellum;
  getHfov(): number;
  setHfov(degrees: number, animated?: boolean | number): Pannellum;
  getYaw(): number;
  toggleFullscreen(): Pannellum;
  stopAutoRotate(): Pannellum;
  isOrientationSupported(): boolean;
  isOrientationActive(): boolean;
  startOrientation(): Pannellum;
  stopOrientation(): Pannellum;
};
