import { z } from "zod";

/** Who may see a panorama (specification, Visibility). */
export const visibilitySchema = z.enum(["private", "public"]).meta({
  id: "Visibility",
  description: "private: the viewer is for the owner only, after login. public: shown in the gallery, to everybody.",
});

export type Visibility = z.infer<typeof visibilitySchema>;
