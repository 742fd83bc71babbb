import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import sharp from "sharp";
import { Installation } from "../support/service-process.js";
import { aCustomer } from "./customer.js";
import { quantile } from "./statistics.js";

/*
 * Measures what the service needs besides time per request: `npm run bench resources`. The compiled command runs in a
 * child process with the embedded provider on SQLite. Fails if a figure exceeds its maximum.
 */

const STARTS = 5;
const READS = 200;
const REST_SECONDS = 30;
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

type Figure = { readonly name: string; readonly unit: "s" | "MiB"; readonly value: number; readonly max?: number };

const residentMebibytes = async ({ pid }: Installation): Promise<number> => {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout) / 1024;
};

/** Does the work; resolves to the maximum of the resident memory meanwhile. */
const peakDuring = async (service: Installation, work: () => Promise<unknown>): Promise<number> => {
  let peak = 0;
  let running = true;
  const sampling = async () => {
    while (running) {
      peak = Math.max(peak, await residentMebibytes(service));
      await setTimeout(SAMPLE_MILLISECONDS);
    }
  };
  const samples = sampling();
  await work().finally(() => {
    running = false;
  });
  await samples;
  return peak;
};

const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
};

/** A PNG that is not compressed, so that its size is nearly that of its pixels. */
const uncompressed = async (mebibytes: number): Promise<Blob> => {
  const side = Math.floor(Math.sqrt((mebibytes * 1024 * 1024 * 0.995) / 3));
  const raw = { width: side, height: side, channels: 3 } as const;
  const pixels = Buffer.alloc(3 * side * side, "panorama");
  return new Blob([new Uint8Array(await sharp(pixels, { raw }).png({ compressionLevel: 0 }).toBuffer())], {
    type: "image/png",
  });
};

/** A JPEG with so much grain that it is nearly as large as a file may be. */
const photo = async (): Promise<Blob> => {
  const { width, height } = PHOTO;
  const grain = randomBytes(1_000_003).map((byte) => 112 + (byte & 31));
  const raw = { width, height, channels: 3 } as const;
  const jpeg = await sharp(Buffer.alloc(3 * width * height, grain), { raw })
    .jpeg({ quality: 72 })
    .toBuffer();
  const mebibytes = jpeg.length / 1024 / 1024;
  if (mebibytes < 9 || mebibytes > FILE_MEBIBYTES) throw new Error(`the photo has ${mebibytes.toFixed(1)} MiB`);
  return new Blob([new Uint8Array(jpeg)], { type: "image/jpeg" });
};

const service = await Installation.create({ DEMO: "false", LOG_LEVEL: "warn" });
const figures: Figure[] = [];
try {
  await service.start(); // creates the database and the certificate
  await service.end("SIGTERM");
  const starts: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    await service.end("SIGTERM");
    starts.push(await secondsOf(() => service.start()));
  }
  figures.push({ name: `ready after start, median of ${STARTS}`, unit: "s", value: quantile(starts, 0.5), max: 0.8 });
  const command = await secondsOf(() => service.command("ledger", "verify"));
  figures.push({ name: "a command (panorama ledger verify)", unit: "s", value: command });

  const customers = await Promise.all(
    Array.from({ length: UPLOADS / UPLOADS_PER_KEY }, (_, index) => aCustomer(service, `customer-${index}`)),
  );
  const [customer] = customers;
  if (customer === undefined) throw new Error("no customer");
  for (let read = 0; read < READS; read += 1) await (await customer.request("/panoramas")).arrayBuffer();
  await setTimeout(REST_SECONDS * 1000);
  const rest = await residentMebibytes(service);
  figures.push({ name: `at rest, ${REST_SECONDS} s after ${READS} reads`, unit: "MiB", value: rest, max: 110 });

  const file = await uncompressed(FILE_MEBIBYTES);
  const uploading = (files: Blob[]) =>
    Promise.all(
      customers.flatMap((each) =>
        Array.from({ length: UPLOADS_PER_KEY }, async () => ({ customer: each, imageUrls: await each.upload(files) })),
      ),
    );
  const peak = await peakDuring(service, () => uploading(Array(FILES).fill(file)));
  const uploads = `${UPLOADS} uploads of ${FILES * FILE_MEBIBYTES} MiB at once, above rest`;
  figures.push({ name: uploads, unit: "MiB", value: peak - rest, max: 200 });
  await setTimeout(REST_SECONDS * 1000);
  figures.push({
    name: `${REST_SECONDS} s after the uploads`,
    unit: "MiB",
    value: await residentMebibytes(service),
  });

  const aPhoto = await photo();
  let photos: Awaited<ReturnType<typeof uploading>> = [];
  const photosPeak = await peakDuring(service, async () => {
    photos = await uploading([aPhoto]);
  });
  const ofPhotos = `${UPLOADS} uploads of 108 megapixels at once, above rest`;
  figures.push({ name: ofPhotos, unit: "MiB", value: photosPeak - rest, max: 200 });
  await setTimeout(REST_SECONDS * 1000);

  const creationsPeak = await peakDuring(service, () =>
    Promise.all(
      photos.slice(0, CREATIONS_WITH_PHOTOS).map(async ({ customer: each, imageUrls: image_urls }) => {
        const made = await each.untilKept((await each.create({ image_urls, resolution: "1k" })).id);
        if (made.output === undefined) throw new Error(`no panorama of the photo: ${JSON.stringify(made)}`);
      }),
    ),
  );
  const ofCreations = `${CREATIONS_WITH_PHOTOS} creations of such a photo at once, above rest`;
  figures.push({ name: ofCreations, unit: "MiB", value: creationsPeak - rest });
  await setTimeout(REST_SECONDS * 1000);

  const { id } = await customer.create({ prompt: "a lake in the mountains at sunset", resolution: "4k" });
  const task = await customer.untilKept(id);
  if (task.output?.storage_status !== "saved") throw new Error(`the panorama was not saved: ${JSON.stringify(task)}`);
  await setTimeout(REST_SECONDS * 1000);
  figures.push({
    name: `${REST_SECONDS} s after a 4k panorama`,
    unit: "MiB",
    value: await residentMebibytes(service),
  });
} finally {
  await service.remove();
}

console.log("| what | measured | maximum |");
console.log("|---|---|---|");
for (const { name, unit, value, max } of figures) {
  const measured = unit === "s" ? value.toFixed(2) : value.toFixed(0);
  console.log(`| ${name} | ${measured} ${unit} | ${max === undefined ? "" : `${max} ${unit}`} |`);
}
const exceeded = figures.filter(({ value, max }) => max !== undefined && value > max);
for (const { name } of exceeded) console.error(`exceeds its maximum: ${name}`);
process.exit(exceeded.length === 0 ? 0 : 1);
