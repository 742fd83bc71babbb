declare module "pannellum/build/pannellum.js";

/** The used part of pannellum 2.5, which has no types and registers itself on the window. */
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
