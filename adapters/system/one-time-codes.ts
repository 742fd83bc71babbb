import { createHmac, randomBytes } from "node:crypto";
import type { OneTimeCodes } from "../../application/ports/one-time-codes.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SECRET_BYTES = 20;
const DIGITS = 6;

/** Written here, because the packages for it are larger than these lines, or no longer maintained. */
export const nodeOneTimeCodes: OneTimeCodes = {
  newSecret: () => base32(randomBytes(SECRET_BYTES)),
  codeAt: (secret, step) => {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(step));
    const digest = createHmac("sha1", bytesOf(secret)).update(counter).digest();
    const offset = (digest.at(-1) ?? 0) & 0xf;
    const number = (digest.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS;
    return String(number).padStart(DIGITS, "0");
  },
};

/** Its length is a multiple of five bytes, so nothing is padded. */
const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join("");
};

const bytesOf = (text: string): Buffer => {
  const bits = [...text].map((character) => ALPHABET.indexOf(character).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
};
