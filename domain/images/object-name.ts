import { type Brand, valueOrThrow } from "../ids.js";
import { FILE_EXTENSIONS, type ImageType } from "./image-type.js";

/** The name of an object in the object storage: `references/…` or `panoramas/…`. */
export type ObjectName = Brand<string, "ObjectName">;

/**
 * Name of a new reference image; `unguessable` as for a panorama. Equal bytes keep their stored name and URL
 * (application/ports/stores/reference-store.ts; specification, POST /images). A name is never used again after its
 * object is deleted.
 */
export const referenceImageName = (unguessable: string, type: ImageType): ObjectName =>
  `references/${unguessable}.${FILE_EXTENSIONS[type]}` as ObjectName;

/** True for a reference image, false for an object of a panorama. */
export const isReference = (name: ObjectName): boolean => name.startsWith("references/");

/**
 * Name of a panorama. `unguessable`: at least 128 random bits as text, so that private URLs cannot be guessed and names
 * do not collide.
 */
export const panoramaName = (unguessable: string): ObjectName => `panoramas/${unguessable}.jpg` as ObjectName;

/** The name of the thumbnail of a panorama. */
export const thumbnailNameOf = (panorama: ObjectName): ObjectName =>
  panorama.replace(/\.jpg$/, "-thumbnail.webp") as ObjectName;

/** True for the thumbnail of a panorama. */
export const isThumbnail = (name: ObjectName): boolean => panoramaOf(name) !== name;

/** The name of the panorama whose image or thumbnail this is. */
export const panoramaOf = (name: ObjectName): ObjectName => name.replace(/-thumbnail\.webp$/, ".jpg") as ObjectName;

/**
 * True if the URL is in a folder of the objects, according to `urlOf`, in any spelling: with a query, a fragment or
 * encoded characters.
 */
export const isInObjectFolder = (url: string, urlOf: (name: ObjectName) => string): boolean => {
  const { origin, pathname } = new URL(url);
  return ["references/", "panoramas/"].some((folder) => {
    const below = new URL(urlOf(folder as ObjectName));
    return origin === below.origin && decoded(pathname).startsWith(decoded(below.pathname));
  });
};

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

/** Parses a name; `undefined` if no object of this service can have it. */
export const parseObjectName = (text: string): ObjectName | undefined =>
  /^(references\/[0-9A-Za-z_-]{22,43}\.(jpg|png|webp)|panoramas\/[0-9A-Za-z_-]{22,64}(\.jpg|-thumbnail\.webp))$/.test(
    text,
  )
    ? (text as ObjectName)
    : undefined;

/** Creates a name from a constant. Throws if it is invalid; parse input instead. */
export const objectName = (text: string): ObjectName =>
  valueOrThrow(parseObjectName(text), text, "the name of an object, such as references/….jpg or panoramas/….jpg");
