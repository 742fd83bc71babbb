/** The visibilities of a panorama (specification, Visibility). */
export const VISIBILITIES = ["private", "public"] as const;

/** One of `VISIBILITIES`. */
export type Visibility = (typeof VISIBILITIES)[number];

/** The meaning of the values, for descriptions of interfaces. */
export const VISIBILITIES_DESCRIPTION =
  "private: only the owner can open the viewer, after login. public: shown in the gallery to everybody.";

/**
 * Gallery modes. `open`: shows all public panoramas. `off`: there is no gallery; a panorama can still be opened by its
 * link.
 */
export const GALLERY_MODES = ["open", "off"] as const;

/** One of `GALLERY_MODES`. */
export type GalleryMode = (typeof GALLERY_MODES)[number];
