import type { PixelSize } from "../../domain/images/resolution.js";

/** From edge to edge; with three photos a part of the sphere stays free in between. */
const WIDTH_RADIANS = (100 / 180) * Math.PI;
const HEIGHT_RADIANS_MAX = (84 / 180) * Math.PI;

/** Direction and size of a photo on the sphere, as seen by a camera at its centre. */
export type PhotoView = {
  /** The horizontal direction of its middle, clockwise from straight ahead. */
  readonly azimuthRadians: number;
  /** Half the width and height on a plane at distance 1. */
  readonly halfWidth: number;
  readonly halfHeight: number;
};

/** Evenly around the viewer, the first one straight ahead. */
export const photoViews = (photos: readonly PixelSize[]): PhotoView[] =>
  photos.map(({ widthPixels, heightPixels }, index) => {
    const ratio = heightPixels / widthPixels;
    const halfHeight = Math.min(Math.tan(WIDTH_RADIANS / 2) * ratio, Math.tan(HEIGHT_RADIANS_MAX / 2));
    return { azimuthRadians: (index / photos.length) * 2 * Math.PI, halfHeight, halfWidth: halfHeight / ratio };
  });

/** The resolution of a panorama where a photo is shown: more pixels would be invisible and cause aliasing. */
export const photoSidePixels = (panoramaWidthPixels: number): number =>
  Math.ceil((1.25 * panoramaWidthPixels * WIDTH_RADIANS) / (2 * Math.PI));

/** True if a reference image is 2:1 and so is treated as a panorama. */
export const isPanorama = ({ widthPixels, heightPixels }: PixelSize): boolean =>
  Math.abs(widthPixels / heightPixels - 2) <= 0.02;
