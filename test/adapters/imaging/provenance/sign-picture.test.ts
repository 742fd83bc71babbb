import { KeyObject, webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { ManifestStore } from "@trustnxt/c2pa-ts/manifest";
import sharp from "sharp";
import { describe, expect, it, vi } from "vitest";
import { signPictures } from "../../../../adapters/imaging/provenance/sign-picture.js";
import { makeSigningPair, signingPairProblem } from "../../../../adapters/imaging/provenance/signing-pair.js";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { verifiedProvenance } from "../../../support/verify-provenance.js";

const pair = await makeSigningPair(new Date());
const sign = signPictures(async () => pair);
const plain = sharp({ create: { width: 64, height: 32, channels: 3, background: "#357" } });
const jpeg = await plain.clone().jpeg().toBuffer();
const webp = await plain.clone().withXmp("<x/>").webp().toBuffer();
const png = await plain.clone().png().toBuffer();
const TRAINED = { sourceType: "trainedAlgorithmicMedia" } as const;
const AI = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";

type Algorithm = webcrypto.RsaHashedKeyGenParams | (webcrypto.EcKeyGenParams & webcrypto.EcdsaParams);

const EC_P256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const EC_P384 = { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" };
const RSA_2048 = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
};

/** A certificate that is signed with its own key, for these extended key usages. */
const selfSigned = async (usages: readonly string[], algorithm: Algorithm = EC_P256) => {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const extensions = [
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([...usages]),
    new BasicConstraintsExtension(false, undefined, true),
    await SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
    await AuthorityKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
  ];
  const certificate = await X509CertificateGenerator.createSelfSigned(
    { name: "CN=Example, O=Example", keys, signingAlgorithm: algorithm, extensions },
    webcrypto,
  );
  const key = KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" });
  return { certificate: certificate.toString("pem"), key: key.toString() };
};

describe("a signed picture", () => {
  it.each([
    ["image/jpeg", jpeg],
    ["image/webp", webp],
  ])("passes the reference library with unchanged pixels: %s", async (type, picture) => {
    const signed = await sign(picture, TRAINED);
    expect(await verifiedProvenance(signed, type)).toEqual({
      state: "Valid",
      failures: ["signingCredential.untrusted"],
      action: expect.objectContaining({ action: "c2pa.created", digitalSourceType: AI }),
      ingredients: 0,
      manifests: 1,
    });
    expect(await sharp(signed).raw().toBuffer()).toEqual(await sharp(picture).raw().toBuffer());
    expect(signed.length - picture.length).toBeLessThan(6_000);
  });

  it.each([
    ["image/jpeg", jpeg],
    ["image/webp", webp],
  ])("fails the validation after a change of one byte: %s", async (type, picture) => {
    const signed = Buffer.from(await sign(picture, TRAINED));
    const changed = type === "image/jpeg" ? signed.length - 4 : 40;
    signed[changed] = (signed[changed] ?? 0) ^ 1;
    expect((await verifiedProvenance(signed, type))?.state).toBe("Invalid");
  });

  it.each([
    ["JPEG", jpeg],
    ["PNG", png],
    ["WebP", webp],
  ])("keeps the manifest of the picture that it was made from: %s", async (_, from) => {
    const provider = await signPictures(async () => makeSigningPair(new Date()))(from, TRAINED);
    const once = await sign(jpeg, { ...TRAINED, madeFrom: provider });
    const twice = await sign(webp, { ...TRAINED, madeFrom: once });
    expect(await verifiedProvenance(once)).toMatchObject({
      state: "Valid",
      action: { action: "c2pa.opened", digitalSourceType: AI },
      ingredients: 1,
      manifests: 2,
    });
    expect(await verifiedProvenance(twice, "image/webp")).toMatchObject({ state: "Valid", manifests: 3 });
  });

  it("leaves out the manifest of a picture that was changed afterwards, or cannot be read", async () => {
    const changed = Buffer.from(await sign(jpeg, TRAINED));
    changed[changed.length - 4] = (changed[changed.length - 4] ?? 0) ^ 1;
    for (const madeFrom of [changed, jpeg, Buffer.from("no picture"), changed.subarray(0, 900)]) {
      const signed = await sign(jpeg, { ...TRAINED, madeFrom });
      expect(await verifiedProvenance(signed)).toMatchObject({ state: "Valid", manifests: 1, ingredients: 0 });
    }
  });

  it("leaves out a manifest to which ours cannot be added", async () => {
    const madeFrom = await sign(webp, TRAINED);
    const createManifest = vi.spyOn(ManifestStore.prototype, "createManifest");
    createManifest.mockImplementationOnce(() => {
      throw new Error("Duplicate instance ID");
    });
    expect(await verifiedProvenance(await sign(jpeg, { ...TRAINED, madeFrom }))).toMatchObject({
      state: "Valid",
      manifests: 1,
    });
  });

  const UNTRUSTED = { state: "Valid", failures: ["signingCredential.untrusted"] };

  it("accepts certificates of every usual kind", async () => {
    for (const algorithm of [EC_P256, EC_P384, RSA_2048]) {
      const own = await selfSigned([ExtendedKeyUsage.emailProtection], algorithm);
      expect(signingPairProblem(own, new Date())).toBeUndefined();
      expect(await verifiedProvenance(await signPictures(async () => own)(jpeg, TRAINED))).toMatchObject(UNTRUSTED);
    }
  });
});

describe("a pair of certificate and key", () => {
  it("returns an error without any part of the key", async () => {
    const now = new Date();
    expect(signingPairProblem(pair, now)).toBeUndefined();
    const other = await makeSigningPair(now);
    expect(signingPairProblem({ ...pair, key: other.key }, now)).toBe("the key is not that of the certificate");
    expect(signingPairProblem({ ...pair, key: "secret" }, now)).toMatch(/^certificate or key cannot be read/);
    expect(signingPairProblem({ ...pair, certificate: "" }, now)).toBe("the certificate is no PEM text");
    expect(signingPairProblem(pair, new Date("2099-01-01"))).toMatch(/^the certificate was valid until/);
  });

  it("returns an error for a TLS certificate, whose signatures verifiers reject", async () => {
    const wrong = await selfSigned([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]);
    expect(signingPairProblem(wrong, new Date())).toMatch(/^the certificate is not one for signatures: /);
    const marked = await signPictures(async () => wrong)(jpeg, TRAINED);
    expect(await verifiedProvenance(marked)).toMatchObject({ state: "Invalid" });
  });

  it("signs nothing after its certificate has expired: verifiers would call the mark invalid", async () => {
    const clock = new HandClock(new Date());
    const signing = signPictures(async () => makeSigningPair(clock.now()), clock);
    expect(await verifiedProvenance(await signing(jpeg, TRAINED))).toMatchObject({ state: "Valid" });
    await clock.advance(31 * 366 * 24 * 60 * 60 * 1000);
    await expect(signing(jpeg, TRAINED)).rejects.toThrow(/^Pictures cannot be signed: .* was valid until 20\d\d-/);
  });

  it("is requested again after a failure", async () => {
    let asked = 0;
    const late = signPictures(async () => {
      asked += 1;
      if (asked === 1) throw new Error("the database is away");
      return pair;
    });
    await expect(late(jpeg, TRAINED)).rejects.toThrow("the database is away");
    expect(await verifiedProvenance(await late(jpeg, TRAINED))).toMatchObject({ state: "Valid" });
  });
});
