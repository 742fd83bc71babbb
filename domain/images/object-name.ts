import { type Brand, valueOrThrow } from "../ids.js";
import { FILE_EXTENSIONS, type ImageType } from "./image-type.js";

/** The name of an object in the object storage: `references/…`, `panoramas/…` or `generations/…`. */
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

/** The folder of generations that have ended (adapters/provider/function/function-provider.ts). */
export const GENERATIONS = "generations/";

/** The folders of all objects. */
export const OBJECT_FOLDERS = ["references", "panoramas", "generations"] as const;

/** Name of the end of a generation. `id`: unguessable. `extension`: of its picture, or `json` for a failure. */
export const generationName = (id: string, extension: string): ObjectName =>
  objectName(`${GENERATIONS}${id}.${extension}`);

/** False for the failure of a generation, which is not for clients. */
export const isPicture = (name: ObjectName): boolean => !name.endsWith(".json");

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
  return OBJECT_FOLDERS.some((folder) => {
    const below = new URL(urlOf(`${folder}/` as ObjectName));
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
  OBJECT_NAME.test(text) ? (text as ObjectName) : undefined;

const OBJECT_NAME = new RegExp(
  [
    "^(references/[0-9A-Za-z_-]{22,43}\\.(jpg|png|webp)",
    "panoramas/[0-9A-Za-z_-]{22,64}(\\.jpg|-thumbnail\\.webp)",
    "generations/[0-9A-Za-z_-]{22,64}\\.(jpg|png|webp|json))$",
  ].join("|"),
);

/** Creates a name from a constant. Throws if it is invalid; parse input instead. */
export const objectName = (text: string): ObjectName =>
  valueOrThrow(parseObjectName(text), text, "the name of an object, such as references/….jpg or panoramas/….jpg");
