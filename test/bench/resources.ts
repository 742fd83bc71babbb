import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import sharp from "sharp";
import type { Installation } from "../support/service-process.js";
import { aCustomer } from "./customer.js";
import { residentMebibytes } from "./process-metrics.js";
import type { Scenario } from "./rig.js";

const STARTS = 5;
const READS = 200;
const REST_MILLISECONDS = 30_000;
const UPLOADS = 20;
/** Two files are the maximum of one upload. */
const FILES = 2;
const FILE_MEBIBYTES = 10;
/** An API key may send ten writes a minute. */
const UPLOADS_PER_KEY = 5;
/** Of a phone: 108 megapixels. */
const PHOTO = { width: 12_000, height: 9_000 };
const CREATIONS_WITH_PHOTOS = 5;
const SAMPLE_MILLISECONDS = 50;

/** Does the work; resolves to the maximum of the resident memory meanwhile. */
const peakDuring = async (service: Installation, work: () => Promise<unknown>): Promise<number> => {
  const done = new AbortController();
  const sampling = async () => {
    for (let peak = 0; ; await setTimeout(SAMPLE_MILLISECONDS)) {
      peak = Math.max(peak, await residentMebibytes(service));
      if (done.signal.aborted) return peak;
    }
  };
  const [peak] = await Promise.all([sampling(), work().finally(() => done.abort())]);
  return peak;
};

const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
};

/** A PNG that is not compressed, so that its size is nearly that of its pixels. */
const uncompressed = async (): Promise<Blob> => {
  const side = Math.floor(Math.sqrt((FILE_MEBIBYTES * 1024 * 1024 * 0.995) / 3));
  const raw = { width: side, height: side, channels: 3 } as const;
  const pixels = Buffer.alloc(3 * side * side, "panorama");
  const png = await sharp(pixels, { raw }).png({ compressionLevel: 0 }).toBuffer();
  return new Blob([new Uint8Array(png)], { type: "image/png" });
};

/** A JPEG with so much grain that it is nearly as large as a file may be. */
const photo = async (): Promise<Blob> => {
  const { width, height } = PHOTO;
  const grain = randomBytes(1_000_003).map((byte) => 112 + (byte & 31));
  const raw = { width, height, channels: 3 } as const;
  const jpeg = await sharp(Buffer.alloc(3 * width * height, grain), { raw })
    .jpeg({ quality: 72 })
    .toBuffer();
  return new Blob([new Uint8Array(jpeg)], { type: "image/jpeg" });
};

/* What the service needs besides time per request. The compiled command with the embedded provider on SQLite. */
export const scenario: Scenario = {
  options: {},
  run: async (rig) => {
    const { service } = await rig.install("sqlite", { LOG_LEVEL: "warn" });
    const starts: number[] = [];
    for (let start = 0; start <= STARTS; start += 1) {
      const seconds = await secondsOf(() => service.start());
      if (start > 0) starts.push(seconds); // the first one makes the certificate
      if (start < STARTS) await service.end("SIGTERM");
    }
    rig.figure("ready after start", "s", starts, { max: 0.8 });
    rig.figure("a command (panorama ledger verify)", "s", await secondsOf(() => service.command("ledger", "verify")));

    const [customer, ...others] = [
      await aCustomer(service, "customer-0"),
      ...(await Promise.all([1, 2, 3].map((n) => aCustomer(service, `customer-${n}`)))),
    ];
    for (let read = 0; read < READS; read += 1) await (await customer.request("/panoramas")).arrayBuffer();
    await setTimeout(REST_MILLISECONDS);
    const rest = await residentMebibytes(service);
    rig.figure(`at rest, 30 s after ${READS} reads`, "MiB", rest, { max: 110 });

    const uploading = (files: Blob[]) =>
      Promise.all(
        [customer, ...others].flatMap((each) =>
          Array.from({ length: UPLOADS_PER_KEY }, async () => ({ each, image_urls: await each.upload(files) })),
        ),
      );
    const file = await uncompressed();
    const peak = await peakDuring(service, () => uploading(Array(FILES).fill(file)));
    rig.figure(`${UPLOADS} uploads of 20 MiB at once, above rest`, "MiB", peak - rest, { max: 200 });
    await setTimeout(REST_MILLISECONDS);
    rig.figure("30 s after the uploads", "MiB", await residentMebibytes(service));

    const aPhoto = await photo();
    let photos: Awaited<ReturnType<typeof uploading>> = [];
    const photosPeak = await peakDuring(service, async () => {
      photos = await uploading([aPhoto]);
    });
    rig.figure(`${UPLOADS} uploads of 108 megapixels at once, above rest`, "MiB", photosPeak - rest, { max: 200 });
    await setTimeout(REST_MILLISECONDS);

    const creationsPeak = await peakDuring(service, () =>
      Promise.all(
        photos.slice(0, CREATIONS_WITH_PHOTOS).map(async ({ each, image_urls }) => {
          const made = await each.untilKept((await each.create({ image_urls, resolution: "1k" })).id);
          rig.expect(made.output !== undefined, `no panorama of the photo: ${JSON.stringify(made)}`);
        }),
      ),
    );
    rig.figure(`${CREATIONS_WITH_PHOTOS} creations of such a photo at once, above rest`, "MiB", creationsPeak - rest);
  },
};
