/** Who may see a panorama (specification, Visibility). */
export const VISIBILITIES = ["private", "public"] as const;

/** One of `VISIBILITIES`. */
export type Visibility = (typeof VISIBILITIES)[number];

/** What the values mean, for descriptions of interfaces. */
export const VISIBILITIES_DESCRIPTION =
  "private: only the owner can open the viewer, after login. public: shown in the gallery to everybody.";
