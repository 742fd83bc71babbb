/**
 * Loads the image library at the first image: it takes 30 MiB of memory, and a process without images never needs it.
 * The images are untrusted. libvips can also read SVG, PDF, TIFF and more, so only three loaders are enabled.
 */
export const loadSharp = (): Promise<typeof import("sharp").default> => {
  loaded ??= load();
  return loaded;
};

let loaded: Promise<typeof import("sharp").default> | undefined;

const load = async (): Promise<typeof import("sharp").default> => {
  const { default: sharp } = await import("sharp");
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({
    operation: ["Jpeg", "Png", "Webp"].flatMap((type) => [`VipsForeignLoad${type}`, `VipsForeignLoad${type}Buffer`]),
  });
  sharp.cache(false);
  sharp.concurrency(1);
  return sharp;
};
