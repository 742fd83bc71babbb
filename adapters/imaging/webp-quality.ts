/** Of thumbnails and other small pictures: the sphere starts with a thumbnail on slow lines. */
export const WEBP_QUALITY = 68;
