/** A reference image, decoded: sRGB bytes, red, green, blue, row by row, in memory that the paint workers share. */
export type Reference = { readonly widthPixels: number; readonly heightPixels: number; readonly pixels: Uint8Array };
