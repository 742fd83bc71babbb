import type { StartView } from "../../domain/images/picture.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import { type DigitalSourceType, isAiGenerated } from "../../domain/images/source-type.js";
import { decoding } from "../system/load-sharp.js";
import { sourceTypeXmp } from "../system/source-type-xmp.js";

/** PNGs with the words, and their distance from the corner: a machine without fonts could not write them. */
const MADE_WITH_AI =
  "iVBORw0KGgoAAAANSUhEUgAAAMoAAABCBAMAAADkqFQuAAAAMFBMVEUAAABMaXGUlJTT09MoKChlZWW9vb3p6en29vaqqqp8fHxKSkoAAAAAAA" +
  "AAAAD///+4vDbDAAAAD3RSTlOeAMvnqLrc8vrUwrFWeh6jUeNdAAAACXBIWXMAAAsSAAALEgHS3X78AAAC+UlEQVRYw+3Yz2vTYBgH8Je2a9PW" +
  "OXoXyUHwmLKhQzykx4GHBCfqbYEpEy8ZCjLdoWWKiJcU52WnBoaKp+7gwVv1H5D+CXr3IM2WpN3h6/O+2VYzx/oiS0DIe2hp+z7P583z/mhTVq" +
  "v97LOzbtPfarHGahdYEu1rXLnYT0SZ/hFTkrmUYxfDvieknI8pXxJSzsWUfkLKdExJrGXK/64YME962/ZO+/Q0JQeoh4//ojRh0aOGxiSlzlhe" +
  "Svn4hrKqsU+rQEtO+cWYIqWIrHGlDIykFIe6dUNJpXxMKUGUcbKi+7ziFJ2bD5/SO7fXZnme6vyrWRHq7LMi9qijZXs0dKwauLXy3I3Cl8IeBy" +
  "YryyFlmiNFpxQWLyE6pNzlCXkPfUQjHtLUuUfKB2BwsCD8PK/CZOUazClsQq1gcJOKvIBH7wGz4Axv6EPeQ/OZEXokNWyvegf3TQNrywijtM5e" +
  "jq+eycoVWGUsQi3PWYyq16XrsGGWKXgh5D16AesOQ2YEfCWXxLy8oLSiZBW0CtiVUepOqxTmo9mnPHZA1YZZQpuKxKdZAbPXsdP1x0qbzUT9i1" +
  "RifsUSir3fE9VdbAIe0z2xxmbAG09FVtNy1M5orLjimdoMjUMLpJSlgbZHCk37YydSKNgQSlv0uARXr+u7Y8U8VLqi146Monh6i5QF3ON5jq5F" +
  "PdqID9HQWs7qCYp+MBYJpRg6FilLNCYi7JAPUczLQXOeBKw3otd/KQX4W1ubtOAllArgCsWs0rzwNabDLFJs/qqI1QOfKR5NhlDafyg5fogVaM" +
  "tKKAygKVYNXL/cDD8p2NiGAN/x5SaOjxE/ThtcyWPDHSt5cSA3fSlF59EqJQo+Y8j3vsaXDj2viy492hFlBGKd0+ZvjZWe2DWdUErRBlxhD4K3" +
  "Fbxm284zhaKnNp2XUahCxZuiM0Z8v6ygPlY60baFO0nJfl1kyv+tpHNnkc5dUjp3fOncvdb6yU9LWv8qpPQPSRotUzIlUzIlUzIlUzLlbNtvY4" +
  "GQn8jrdy0AAAAASUVORK5CYII=";
const DRAWN_WITH_RULES =
  "iVBORw0KGgoAAAANSUhEUgAAARoAAABCBAMAAAB6NwSnAAAAMFBMVEUAAABMaXH8/PxRUVG1tbXv7+/f398dHR3Nzc12dnaenp4yMjIAAAAAAAAA" +
  "AAD////LlkcRAAAAD3RSTlOeAP202PbtpePAz6t+QxFWda9pAAAACXBIWXMAAAsTAAALEwEAmpwYAAADmklEQVRo3u2Yz08TQRTHJ/213RZjuKsh" +
  "NVXUw+7FePAAMZgIHCANEfSyHCDx1qbBg3qAgyJ4aeOPRPHQJmoMemgPJBo5gP+B/gn+C0O30PbwfG92293FAiuBdA8zSZvdmTfzPjPvO282w/rP" +
  "b7Pelb7f/e7CLvQSBnH+eGjOsd6Wnx6aXz2mOeOh2e4xTZ+HpudF0kgaSRNomhDs2E8a6AcZHdzUlSYLPP3g63Fp1C/rJ0xD5fkxaSJQOwUaU/9/" +
  "msTI+CnQTI0g0fTxtHPyNEssnKVBNbhxe5CtLWcujTKWh8ssBgP426GGT+lxYa1oPMeynLrpGKm4WFe3AcVvIbO0BbssCZCzaDbm06vYpD5L3R3N" +
  "HUnDHgKnjm9gz4rckqAgYSwiETWAWbXNdfKgAGduGscgBA0DvDQJW5liaP1oGrQvYkdD0KQAmljTZEPQYCVs1kDDYYaFeQXKYTRW0dJN4xiEwIR9" +
  "NBXgGtqjk7TmhwY7lrEjf3GHjVXZY3RA7ioYv4poqL8zcI2oIB2OOkywSKNsQG1z02MQAhj86KFB+nLYgGIcJ5d864OG0cw0uNiRXlXRTFYwTTsy" +
  "07hOLdGUh8k4GJPtQLZV7BiEgKNDN42wKcFsHK75UnGbhtZaXU6J6GahasxBVePkrIz6sRJvDFrR+kQrhCvhpnEMQqLGTROD+spKAQYSwJ9+8ENj" +
  "R6qIm6Yg8k+RTcB7GIVXGDDRcNZ2FoHGVq3UGMJebhrHAFW8jyYqRoTdpIH/V5lvFeviaW6ERi8JljHUh2hoO1OBWGokJ28udmh2bJqwl6bFvjta" +
  "97PDdYpEzZprHqYwTg9obLcz1BPGqV7AqsNpWgjejlTT9hVey9pa95P9dGuhVVqpGKCGCynq7XaG9sZknJOcDqNZxGFiHRXXaRpiM0VtrR9Mc98+" +
  "GQRNFPZy14kmAmKP08p5aCZA7PE9y28CzJvfutBEwVwvODt8nD26VU6sVtlLjKC/U1PQIESKU6RUEPkP9eGlKYHIf03LLz7h6vxLQ+mXt7MfTgD3" +
  "aTkCPAMw6/OLQtAo+H4FUxVTAIfNi0zuoVnEKkWjN+E3251Gwf1zz3MyEA10zo+jv7asrL2QmdGJhmXFmcn3ycKqEmIUfhcyXWmwfupJ59T8MZ9C" +
  "F8nX86mZz/IrXdJIGknTW5pg3bQF6xYyWDe0wbq9DtbNfn+QiqSRNJJG0kgaSSNpJI2kkTSSJmg0fwFWKPX2KLXoywAAAABJRU5ErkJggg==";

/**
 * Of thumbnails and other small pictures: the sphere starts with a thumbnail on slow lines. At 68, 22 to 39 % smaller,
 * smooth skies had visible blocks. Noise does not hide them: half a level of it does not survive the encoding, and a
 * JPEG of quality 94 has as many flat blocks in a smooth sky as one of 90.
 */
export const WEBP_QUALITY = 80;

/** Wide enough to show a place, and not so wide that it looks bent. */
const FIELD_DEGREES = 95;
/** More pixels of the panorama are not decoded: about as many as a view of that field shows. */
const DECODED_PIXELS_PER_PIXEL = 3.4;
const JPEG_QUALITY = 82;
/** Rows between two pauses, so that requests do not wait for a whole view. */
const ROWS_AT_ONCE = 40;

type Use = { readonly sourceType: DigitalSourceType; readonly for: "preview" | "tile" };

/**
 * A view from inside an equirectangular image, with its source type in the XMP: for link previews as JPEG with a
 * visible label (`sourceLabel`), for tiles as WebP. Throws if the image cannot be decoded.
 */
export const perspectiveView = (
  panorama: Uint8Array,
  size: PixelSize,
  { view, sourceType, for: use }: Use & { readonly view: StartView },
): Promise<Uint8Array> =>
  decoding(async (sharp) => {
    const xmp = sourceTypeXmp(sourceType);
    const { widthPixels: width, heightPixels: height } = size;
    const { data, info } = await sharp(panorama, { failOn: "error" })
      .resize({ width: Math.round(width * DECODED_PIXELS_PER_PIXEL), withoutEnlargement: true })
      .removeAlpha()
      .toColourspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true });
    const pixels = new Uint8Array(width * height * 3);
    const paintRows = painter({ data, ...info }, { ...size, data: pixels }, view);
    for (let from = 0; from < height; from += ROWS_AT_ONCE) {
      paintRows(from, Math.min(height, from + ROWS_AT_ONCE));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const made = sharp(pixels, { raw: { width, height, channels: 3 } });
    if (use === "tile") return made.withXmp(xmp).webp({ quality: WEBP_QUALITY }).toBuffer();
    const words = sharp(Buffer.from(isAiGenerated(sourceType) ? MADE_WITH_AI : DRAWN_WITH_RULES, "base64"));
    const mark = await words
      .resize({ width: Math.floor(width / 2), withoutEnlargement: true })
      .png()
      .toBuffer();
    return made
      .composite([{ input: mark, gravity: "southeast" }])
      .withXmp(xmp)
      .jpeg({ quality: JPEG_QUALITY })
      .toBuffer();
  });

type Pixels = PixelSize & { readonly data: Uint8Array };

/** Returns a function that paints the rows from the first one up to the second one. */
const painter = (
  { data, width, height }: { readonly data: Uint8Array; readonly width: number; readonly height: number },
  { data: pixels, widthPixels, heightPixels }: Pixels,
  { yaw, pitch }: StartView,
): ((from: number, to: number) => void) => {
  const [turn, tilt] = [(yaw * Math.PI) / 180, (pitch * Math.PI) / 180];
  const [sin, cos] = [Math.sin(tilt), Math.cos(tilt)];
  const step = (2 * Math.tan((FIELD_DEGREES * Math.PI) / 360)) / widthPixels;
  return (from, to) => {
    let target = from * widthPixels * 3;
    for (let row = from; row < to; row += 1) {
      const above = (heightPixels / 2 - row - 0.5) * step;
      const [up, ahead] = [above * cos + sin, cos - above * sin];
      for (let column = 0; column < widthPixels; column += 1) {
        const right = (column + 0.5 - widthPixels / 2) * step;
        const x = ((Math.atan2(right, ahead) + turn) / (2 * Math.PI) + 1.5) * width - 0.5;
        const y = (0.5 - Math.atan(up / Math.hypot(right, ahead)) / Math.PI) * height - 0.5;
        const [left, top] = [Math.floor(x), Math.floor(y)];
        const [a, b] = [x - left, y - top];
        // The picture closes at its sides; above it and below it there is nothing.
        const [west, east] = [left % width, (left + 1) % width];
        const high = Math.max(0, top) * width;
        const low = Math.min(height - 1, top + 1) * width;
        for (let c = 0; c < 3; c += 1) {
          const upper = (data[(high + west) * 3 + c] ?? 0) * (1 - a) + (data[(high + east) * 3 + c] ?? 0) * a;
          const lower = (data[(low + west) * 3 + c] ?? 0) * (1 - a) + (data[(low + east) * 3 + c] ?? 0) * a;
          pixels[target + c] = upper * (1 - b) + lower * b + 0.5;
        }
        target += 3;
      }
    }
  };
};
