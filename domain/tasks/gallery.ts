/**
 * Which public panoramas the gallery shows. `open`: all. `off`: none, and there is no gallery; whoever has the link
 * of a panorama can open it.
 */
export const GALLERY_MODES = ["open", "off"] as const;

/** One of `GALLERY_MODES`. */
export type GalleryMode = (typeof GALLERY_MODES)[number];
