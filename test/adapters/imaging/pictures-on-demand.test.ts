import { err, ok } from "neverthrow";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { picturesOnDemand } from "../../../adapters/imaging/pictures-on-demand.js";
import type { ObjectName } from "../../../domain/images/object-name.js";

import { UNMARKED } from "../../support/unmarked.js";

const nameOf = (n: number) => `panoramas/${String(n).padStart(22, "0")}.jpg` as ObjectName;
const NETWORK = "192.0.2.1";
const SIZE = { widthPixels: 300, heightPixels: 158 };

/** A storage that counts what is read, and answers when `answer` is resolved. */
const storageOf = (image: Uint8Array) => {
  let answer: Promise<unknown> = Promise.resolve();
  const storage = {
    reads: [] as string[],
    isAway: false,
    /** Returns the function that lets all reads answer. */
    hold: () => {
      let release = () => {};
      answer = new Promise<void>((resolve) => {
        release = resolve;
      });
      return release;
    },
    read: async (name: ObjectName) => {
      storage.reads.push(name);
      await answer;
      return storage.isAway ? err({ kind: "storage_unavailable" as const, reason: "away" }) : ok(image);
    },
  };
  return storage;
};

const flat = (width: number) =>
  sharp({ create: { width, height: width / 2, channels: 3, background: "#2040d0" } })
    .jpeg()
    .toBuffer();
describe("pictures on demand", () => {
  it("are made once per size for concurrent and later requests", async () => {
    const storage = storageOf(await flat(256));
    const pictures = picturesOnDemand(storage, UNMARKED);
    const [one, other] = await Promise.all([
      pictures.resized(nameOf(1), 64, NETWORK),
      pictures.resized(nameOf(1), 64, NETWORK),
    ]);
    expect(await sharp(one).metadata()).toMatchObject({ format: "webp", width: 64, height: 32 });
    expect([other, await pictures.resized(nameOf(1), 64, NETWORK)]).toEqual([one, one]);
    expect(storage.reads).toEqual([nameOf(1)]);
    expect(await sharp(await pictures.resized(nameOf(1), 32, NETWORK)).metadata()).toMatchObject({
      width: 32,
      height: 16,
    });
    expect(
      await sharp(await pictures.socialImage(nameOf(1), SIZE, { yaw: 0, pitch: 0 }, NETWORK)).metadata(),
    ).toMatchObject({
      format: "jpeg",
      width: 300,
    });
    expect(storage.reads).toHaveLength(3);
  });

  it("brightestGrey is undefined until measured, and 255 for a broken file", async () => {
    const spot = { create: { width: 12, height: 12, channels: 3 as const, background: "white" } };
    const night = sharp({ create: { width: 1024, height: 512, channels: 3, background: "#101020" } });
    const storage = storageOf(
      await night
        .composite([{ input: spot, left: 500, top: 200 }])
        .webp()
        .toBuffer(),
    );
    const pictures = picturesOnDemand(storage, UNMARKED);
    const release = storage.hold();
    expect([pictures.brightestGrey(nameOf(1)), pictures.brightestGrey(nameOf(1))]).toEqual([undefined, undefined]);
    release();
    await expect.poll(() => pictures.brightestGrey(nameOf(1))).toBeGreaterThan(240);
    expect(storage.reads).toEqual([nameOf(1)]);
    const broken = picturesOnDemand(storageOf(Buffer.from("no picture")), UNMARKED);
    await expect.poll(() => broken.brightestGrey(nameOf(1))).toBe(255);
  });

  it("return undefined while the storage is unavailable, and are made afterwards", async () => {
    const storage = storageOf(await flat(256));
    const pictures = picturesOnDemand(storage, UNMARKED);
    storage.isAway = true;
    expect(await pictures.resized(nameOf(1), 64, NETWORK)).toBeUndefined();
    storage.isAway = false;
    expect(await pictures.resized(nameOf(1), 64, NETWORK)).toBeInstanceOf(Uint8Array);
  });

  it("are read two at a time, with at most 100 of one network waiting", async () => {
    const storage = storageOf(await flat(64));
    const pictures = picturesOnDemand(storage, UNMARKED);
    const release = storage.hold();
    const asked = Array.from({ length: 100 }, (_, n) => pictures.resized(nameOf(n), 32, NETWORK));
    expect(await pictures.resized(nameOf(100), 32, NETWORK)).toBeUndefined();
    const waiting = pictures.resized(nameOf(99), 32, NETWORK); // asked for before
    expect(storage.reads).toEqual([nameOf(0), nameOf(1)]);
    release();
    const made = await Promise.all([...asked, waiting]);
    expect(made.every((picture) => picture instanceof Uint8Array)).toBe(true);
    expect(await pictures.resized(nameOf(100), 32, NETWORK)).toBeInstanceOf(Uint8Array);
  });

  it("are made for networks in turns, also a picture for which another network waits", async () => {
    const storage = storageOf(await flat(64));
    const pictures = picturesOnDemand(storage, UNMARKED);
    const release = storage.hold();
    const burst = Array.from({ length: 200 }, (_, n) => pictures.resized(nameOf(n), 32, NETWORK));
    const other = "198.51.100.7";
    const shared = Promise.all([50, 99].map((n) => pictures.resized(nameOf(n), 32, other)));
    const own = pictures.tile(nameOf(900), 32, { yaw: 0, pitch: 0 }, other);
    release();
    await Promise.all([shared, own]);
    const wanted = [50, 99, 900].map(nameOf);
    expect(Math.max(...wanted.map((name) => storage.reads.indexOf(name)))).toBeLessThan(8);
    const made = await Promise.all(burst);
    expect(made.map((picture) => picture !== undefined)).toEqual(made.map((_, n) => n < 100));
    expect(storage.reads.filter((name) => name === nameOf(50))).toHaveLength(1);
    expect(await pictures.resized(nameOf(150), 32, NETWORK)).toBeInstanceOf(Uint8Array); // nothing is pending any more
  });

  it("fail for everybody who waits for them, and can be made afterwards", async () => {
    const storage = storageOf(Buffer.from("no picture"));
    const pictures = picturesOnDemand(storage, UNMARKED);
    const asked = [NETWORK, NETWORK, "198.51.100.7"].map((network) => pictures.resized(nameOf(1), 32, network));
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(storage.reads).toHaveLength(1);
    await expect(pictures.resized(nameOf(1), 32, NETWORK)).rejects.toThrow();
    expect(storage.reads).toHaveLength(2);
  });

  it("are cached up to a number of bytes, least recently used first out", async () => {
    const storage = storageOf(await flat(64));
    const { length = 0 } = (await picturesOnDemand(storage, UNMARKED).resized(nameOf(0), 32, NETWORK)) ?? [];
    storage.reads.length = 0;
    const pictures = picturesOnDemand(storage, UNMARKED, 3 * length);
    for (const n of [0, 1, 2, 0, 3]) await pictures.resized(nameOf(n), 32, NETWORK);
    expect(storage.reads).toEqual([0, 1, 2, 3].map(nameOf));
    for (const n of [2, 0, 3]) await pictures.resized(nameOf(n), 32, NETWORK);
    expect(storage.reads).toHaveLength(4);
    await pictures.resized(nameOf(1), 32, NETWORK);
    expect(storage.reads.at(-1)).toBe(nameOf(1));
    await pictures.resized(nameOf(2), 32, NETWORK);
    expect(storage.reads).toHaveLength(6);
  });
});
