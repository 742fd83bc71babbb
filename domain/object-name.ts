import type { Brand } from "./brand.js";
import { FILE_EXTENSIONS, type ImageType } from "./image-type.js";

/** The name of an object in the object storage: `references/…` or `panoramas/…`. */
export type ObjectName = Brand<string, "ObjectName">;

/** Content-addressed: the same bytes have the same name, and therefore the same URL (specification, POST /images). */
export const referenceImageName = (sha256Hex: string, type: ImageType): ObjectName =>
  `references/${sha256Hex}.${FILE_EXTENSIONS[type]}` as ObjectName;

/** `unguessable`: at least 128 random bits as text, so that private URLs cannot be guessed and names do not collide. */
export const panoramaName = (unguessable: string): ObjectName => `panoramas/${unguessable}.jpg` as ObjectName;

/** The name of the thumbnail of a panorama. */
export const thumbnailNameOf = (panorama: ObjectName): ObjectName =>
  panorama.replace(/\.jpg$/, "-thumbnail.webp") as ObjectName;

/** Returns `undefined` for text that cannot be the name of an object of this service. */
export const parseObjectName = (text: string): ObjectName | undefined =>
  /^(references\/[0-9a-f]{64}\.(jpg|png|webp)|panoramas\/[0-9A-Za-z_-]{22,64}(\.jpg|-thumbnail\.webp))$/.test(text)
    ? (text as ObjectName)
    : undefined;
