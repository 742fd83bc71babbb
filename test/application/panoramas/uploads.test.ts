import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { accountId } from "../../../adapters/contracts/support/builders.js";
import { image, readable } from "../../../adapters/memory/memory-imaging.js";
import { deleteExpiredReferences } from "../../../application/background/erase.js";
import { type UploadedFile, uploads } from "../../../application/panoramas/uploads.js";
import type { Email } from "../../../domain/accounts/account.js";
import { credits } from "../../../domain/credits/credits.js";
import { welcomeEntry } from "../../../domain/credits/ledger.js";
import type { AccountId } from "../../../domain/ids.js";
import { UPLOAD_LIMITS } from "../../../domain/images/upload-rules.js";
import { PANORAMA_POLICY, type PanoramaPolicy, panoramaPolicy } from "../../../domain/panorama-policy.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const aFile = (bytes: Uint8Array, declaredType?: string): UploadedFile => ({
  declaredType,
  sizeBytes: bytes.length,
  read: async () => bytes,
});
const [cat, dog] = [image("cat"), image("dog")];
const SETTINGS = { policy: PANORAMA_POLICY, referenceRetentionHours: 24 };
const upload = (...files: UploadedFile[]) => uploads(world, SETTINGS).uploadImages(owner, files);
const MIB = 1024 * 1024;

describe("uploadImages", () => {
  it("returns the public URLs in the order of the files, and the same URL for the same bytes", async () => {
    const { urls } = (await upload(aFile(cat), aFile(dog), aFile(cat, "image/jpeg")))._unsafeUnwrap();
    expect(urls[0]).toMatch(/^https:\/\/objects\.example\/references\/[\w-]{22}\.jpg$/);
    expect(urls[1]).not.toBe(urls[0]);
    expect(urls[2]).toBe(urls[0]);
    expect((await upload(aFile(dog)))._unsafeUnwrap().urls).toEqual([urls[1]]);
    expect([...world.storage.objects.values()]).toEqual([
      { bytes: Uint8Array.from(cat), contentType: "image/jpeg" },
      { bytes: Uint8Array.from(dog), contentType: "image/jpeg" },
    ]);
  });

  it("returns the retention of unused images, which a repeated upload restarts", async () => {
    const keeping = { retentionMilliseconds: 24 * 3_600_000, leaseMilliseconds: 1 };
    const first = (await upload(aFile(cat)))._unsafeUnwrap();
    expect(first.expiresAt).toEqual(new Date(world.clock.now().getTime() + 24 * 3_600_000));
    await world.clock.advance(3_600_000);
    const again = (await upload(aFile(cat), aFile(dog)))._unsafeUnwrap();
    expect(again.expiresAt.getTime() - first.expiresAt.getTime()).toBe(3_600_000);
    await world.clock.advance(24 * 3_600_000);
    expect(world.clock.now()).toEqual(again.expiresAt);
    expect(await deleteExpiredReferences(world, keeping)).toBe(0);
    await world.clock.advance(1);
    expect(await deleteExpiredReferences(world, keeping)).toBe(2);
  });

  it("applies the limits and prices of its policy", async () => {
    const policy = panoramaPolicy({
      prices: { "1k": 101, "2k": 102, "4k": 103 },
      uploads: { ...UPLOAD_LIMITS, filesMax: 1, fileBytesMax: 11 * MIB },
    });
    const uploadTo = (account: AccountId, ...files: UploadedFile[]) =>
      uploads(world, { ...SETTINGS, policy }).uploadImages(account, files);
    expect((await uploadTo(owner, aFile(cat), aFile(dog)))._unsafeUnwrapErr()).toMatchObject({
      rule: { name: "files_max", max: 1 },
    });
    const large = { ...aFile(cat), sizeBytes: UPLOAD_LIMITS.fileBytesMax + 1 };
    expect((await uploadTo(owner, large)).isOk()).toBe(true);

    const poor = accountId(99);
    const email = "poor@example.com" as Email;
    const welcome = welcomeEntry(poor, credits(100), world.clock.now());
    const account = { id: poor, email, createdAt: world.clock.now() };
    (await world.accounts.open(account, { welcome }))._unsafeUnwrap();
    const checkUpload = (policy: PanoramaPolicy) => uploads(world, { ...SETTINGS, policy }).checkUpload(poor);
    const refused = { rule: { name: "paid_order_or_credits", credits: 101 } };
    expect((await uploadTo(poor, aFile(dog)))._unsafeUnwrapErr()).toMatchObject(refused);
    expect((await checkUpload(policy))._unsafeUnwrapErr()).toMatchObject(refused);
    expect(await checkUpload(PANORAMA_POLICY)).toEqual(ok(undefined));
  });

  it("stores nothing if one file is refused", async () => {
    const refused = await upload(aFile(cat), aFile(Buffer.from("GIF89a, a type that is not accepted")), aFile(dog));
    expect(refused._unsafeUnwrapErr()).toEqual({
      kind: "invalid_request",
      field: "files",
      index: 1,
      rule: { name: "image_type", allowed: ["image/jpeg", "image/png", "image/webp"] },
    });
    expect(world.storage.objects.size).toBe(0);
  });

  it("refuses a file whose declared type differs from its bytes", async () => {
    expect((await upload(aFile(cat, "image/png")))._unsafeUnwrapErr()).toMatchObject({ kind: "invalid_request" });
  });

  it("refuses a file with an image signature that cannot be decoded", async () => {
    const { imaging } = world;
    const inspect = imaging.inspect.bind(imaging);
    imaging.inspect = async (bytes) =>
      readable(bytes) === "cat" ? err({ kind: "unusable_image", reason: "it is incomplete" }) : inspect(bytes);
    expect((await upload(aFile(dog), aFile(cat)))._unsafeUnwrapErr()).toMatchObject({
      field: "files",
      index: 1,
      rule: { name: "usable_image", reason: "it is incomplete" },
    });
    expect(world.storage.objects.size).toBe(0);
  });

  it("stores no personal data, and gives one URL to files that differ in it only", async () => {
    const [home, away] = [image("cat#at home"), image("cat#far away")];
    const { urls } = (await upload(aFile(home), aFile(dog), aFile(away)))._unsafeUnwrap();
    expect(urls[2]).toBe(urls[0]);
    expect((await upload(aFile(home)))._unsafeUnwrap().urls).toEqual([urls[0]]);
    expect([...world.storage.objects.values()].map(({ bytes }) => readable(bytes))).toEqual(["cat", "dog"]);
  });

  it("decodes each content once: not again in the same upload, nor while it is stored", async () => {
    (await upload(aFile(cat), aFile(dog), aFile(cat), aFile(dog)))._unsafeUnwrap();
    (await upload(aFile(cat)))._unsafeUnwrap();
    (await uploads(world, SETTINGS).uploadImages(await anOwner(world, 100), [aFile(dog)]))._unsafeUnwrap();
    expect(world.imaging.decoded).toBe(2);
  });

  it("refuses an empty upload, and too many or too large files, before it reads any", async () => {
    const unreadable = (sizeBytes: number): UploadedFile => ({
      declaredType: undefined,
      sizeBytes,
      read: () => Promise.reject(new Error("must not be read")),
    });
    for (const files of [
      [],
      Array.from({ length: 6 }, () => unreadable(1)),
      [unreadable(UPLOAD_LIMITS.fileBytesMax + 1)],
      Array.from({ length: 3 }, () => unreadable(UPLOAD_LIMITS.fileBytesMax)),
    ]) {
      expect((await upload(...files))._unsafeUnwrapErr()).toMatchObject({ kind: "invalid_request" });
    }
  });

  it("returns storage_unavailable when the storage is unavailable", async () => {
    world.storage.available = false;
    expect((await upload(aFile(cat)))._unsafeUnwrapErr()).toMatchObject({ kind: "storage_unavailable" });
  });

  const withBytes = (name: string, sizeBytes: number): UploadedFile => ({ ...aFile(image(name)), sizeBytes });

  it("refuses bytes above 200 MiB of unused images, and none that the account has already", async () => {
    for (let n = 0; n < 20; n += 1) (await upload(withBytes(`${n}`, 10 * MIB)))._unsafeUnwrap();
    const full = { name: "unused_bytes_max", max: 200 * MIB, actual: 200 * MIB };
    expect((await upload(withBytes("more", 1)))._unsafeUnwrapErr()).toMatchObject({ field: "files", rule: full });
    expect(world.storage.objects.size).toBe(20);
    expect((await upload(withBytes("3", 10 * MIB))).isOk()).toBe(true);
    const other = await anOwner(world, 100);
    expect((await uploads(world, SETTINGS).uploadImages(other, [withBytes("more", 1)])).isOk()).toBe(true);
  });

  it("counts a small image as 64 KiB", async () => {
    (await upload(aFile(cat)))._unsafeUnwrap();
    expect((await world.references.standing(owner)).unusedBytes).toBe(64 * 1024);
  });
});
