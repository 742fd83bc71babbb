/** Who may see a panorama (specification, Visibility). */
export const VISIBILITIES = ["private", "public"] as const;

/** One of `VISIBILITIES`. */
export type Visibility = (typeof VISIBILITIES)[number];

/** What the values mean, for descriptions of interfaces. */
export const VISIBILITIES_DESCRIPTION =
  "private: only the owner can open the viewer, after login. public: shown in the gallery to everybody.";

/**
 * Which public panoramas the gallery shows. `open`: all. `off`: none, and there is no gallery; whoever has the link
 * of a panorama can open it.
 */
export const GALLERY_MODES = ["open", "off"] as const;

/** One of `GALLERY_MODES`. */
export type GalleryMode = (typeof GALLERY_MODES)[number];
