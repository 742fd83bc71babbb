import { panoramaName } from "../../../domain/images/object-name.js";
import type { Images } from "./panorama-card.js";

/** The origin of image URLs. It is the same for all images, so any object name gives it. */
export const imageOrigin = (images: Images): string => new URL(images.urlOf(panoramaName("x".repeat(22)))).origin;
