import { z } from "zod";

/** Who may see a panorama (specification, Visibility). */
export const visibilitySchema = z.enum(["private", "public"]).meta({
  id: "Visibility",
  description: "private: only the owner can open the viewer, after login. public: shown in the gallery to everybody.",
});

export type Visibility = z.infer<typeof visibilitySchema>;
