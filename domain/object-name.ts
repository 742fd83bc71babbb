import type { Brand } from "./brand.js";
import { FILE_EXTENSIONS, type ImageType } from "./image-type.js";

/** Where an object lives in the object storage: `references/…` and `panoramas/…`. */
export type ObjectName = Brand<string, "ObjectName">;

/** Content-addressed: the same bytes have the same name, and so the same URL (specification, POST /images). */
export const referenceImageName = (sha256Hex: string, type: ImageType): ObjectName =>
  `references/${sha256Hex}.${FILE_EXTENSIONS[type]}` as ObjectName;

/** `unguessable`: at least 128 random bits as text, so that nobody finds a private image, or two tasks share one. */
export const panoramaName = (unguessable: string): ObjectName => `panoramas/${unguessable}.jpg` as ObjectName;

/** The thumbnail lives beside its panorama. */
export const thumbnailNameOf = (panorama: ObjectName): ObjectName =>
  panorama.replace(/\.jpg$/, "-thumbnail.webp") as ObjectName;

/** A text from a URL's path, if it can be the name of one of our objects. */
export const parseObjectName = (text: string): ObjectName | undefined =>
  /^(references\/[0-9a-f]{64}\.(jpg|png|webp)|panoramas\/[0-9A-Za-z_-]{22,64}(\.jpg|-thumbnail\.webp))$/.test(text)
    ? (text as ObjectName)
    : undefined;
