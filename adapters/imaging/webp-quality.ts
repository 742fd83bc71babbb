/**
 * Of thumbnails and other small pictures: the sphere starts with a thumbnail on slow lines. At 68, 22 to 39 %
 * smaller, smooth skies had visible blocks, and no noise that a picture has survives to hide them (DECISIONS.md, 35).
 */
export const WEBP_QUALITY = 80;
