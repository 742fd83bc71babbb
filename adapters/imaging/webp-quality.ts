/**
 * Of thumbnails and other small pictures: the sphere starts with a thumbnail on slow lines. At 68, 22 to 39 % smaller,
 * smooth skies had visible blocks. Noise does not hide them: half a level of it does not survive the encoding, and a
 * JPEG of quality 94 has as many flat blocks in a smooth sky as one of 90.
 */
export const WEBP_QUALITY = 80;
