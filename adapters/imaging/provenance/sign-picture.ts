import { constants, createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Asset } from "@trustnxt/c2pa-ts/asset";
import type { Clock } from "../../../application/ports/clock.js";
import { imageTypeOf } from "../../../domain/images/image-type.js";
import type { DigitalSourceType } from "../../../domain/images/source-type.js";
import { sourceTypeUrl } from "../../system/source-type-xmp.js";
import { certificatesIn, type SigningPair } from "./signing-pair.js";

/**
 * Puts a signed manifest of the C2PA into a JPEG or WebP: how the picture was made, and by whom. `madeFrom`: the file
 * that it was made from; its own manifest is kept as that of an ingredient. Throws if the picture cannot be signed: a
 * picture without a mark must not leave the service.
 */
export type SignPicture = (picture: Uint8Array, origin: Origin) => Promise<Uint8Array>;

/** Origin of a picture, and its source file. */
export type Origin = { readonly sourceType: DigitalSourceType; readonly madeFrom?: Uint8Array | undefined };

/** A larger manifest of a provider is left out. They have less than 100 kB today. */
const PARENT_BYTES_MAX = 1024 * 1024;
/** The signature is made after its space is reserved; the rest of the space is filled with zeros. */
const SIGNATURE_PADDING_BYTES = 1024;

/**
 * `pair` is asked for at the first picture. Until it can be had, no picture can be signed, and none after its
 * certificate has expired: such marks are invalid.
 */
export const signPictures = (
  pair: () => Promise<SigningPair>,
  clock: Pick<Clock, "now"> = { now: () => new Date() },
): SignPicture => {
  let opened: Promise<Signing> | undefined;
  const signing = () => {
    opened ??= pair().then(open);
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  return async (picture, origin) => {
    const using = await signing();
    const { notAfter } = using.signer.certificate;
    if (notAfter <= clock.now()) {
      throw new Error(`Pictures cannot be signed: their certificate was valid until ${notAfter.toISOString()}.`);
    }
    const parents = origin.madeFrom && (await parentStore(using, origin.madeFrom));
    const alone = () => signed(using, picture, origin.sourceType);
    // Manifests of others may be valid, and still not of a form to which ours can be added.
    return parents === undefined ? alone() : signed(using, picture, origin.sourceType, parents).catch(alone);
  };
};

type Library = Awaited<ReturnType<typeof loadLibrary>>;
type Signing = { readonly library: Library; readonly signer: Signer };
type Signer = Parameters<InstanceType<Library["manifest"]["Manifest"]>["sign"]>[0];
type Action = InstanceType<Library["manifest"]["ActionAssertion"]>["actions"][number];
type Store = InstanceType<Library["manifest"]["ManifestStore"]>;

/** Loaded at the first picture: a process without pictures never needs it. */
const loadLibrary = async () => {
  const [asset, manifest, jumbf, cose, x509, webp] = await Promise.all([
    import("@trustnxt/c2pa-ts/asset"),
    import("@trustnxt/c2pa-ts/manifest"),
    import("@trustnxt/c2pa-ts/jumbf"),
    import("@trustnxt/c2pa-ts/cose"),
    import("@peculiar/x509"),
    import("./webp-asset.js"),
  ]);
  return { asset, manifest, jumbf, cose, x509, webp };
};

const open = async ({ certificate, key }: SigningPair): Promise<Signing> => {
  const library = await loadLibrary();
  const [leaf, ...chain] = certificatesIn(certificate).map((pem) => new library.x509.X509Certificate(pem));
  if (leaf === undefined) throw new Error("There is no certificate to sign pictures with.");
  const privateKey = createPrivateKey(key);
  const { name, hash } = algorithmOf(privateKey);
  // Not the signer of the package: reference verifiers refuse its signatures of elliptic curves.
  const options = {
    key: privateKey,
    dsaEncoding: "ieee-p1363",
    ...(name.startsWith("PS") && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
  } as const;
  return {
    library,
    signer: {
      algorithm: library.cose.CoseAlgorithmIdentifier[name],
      certificate: leaf,
      chainCertificates: chain,
      sign: async (payload) => new Uint8Array(sign(hash, payload, options)),
    },
  };
};

const algorithmOf = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) => {
  if (asymmetricKeyType === "ed25519") return { name: "Ed25519", hash: null } as const;
  if (asymmetricKeyType === "rsa") return { name: "PS256", hash: "sha256" } as const;
  switch (asymmetricKeyDetails?.namedCurve) {
    case "secp384r1":
      return { name: "ES384", hash: "sha384" } as const;
    case "secp521r1":
      return { name: "ES512", hash: "sha512" } as const;
    default:
      return { name: "ES256", hash: "sha256" } as const;
  }
};

const assetOf = ({ asset, webp }: Library, bytes: Uint8Array): Asset => {
  const type = imageTypeOf(bytes);
  if (type === "image/png") return new asset.PNG(bytes);
  return type === "image/webp" ? new webp.WebpAsset(bytes) : new asset.JPEG(bytes);
};

/**
 * The manifests of the file that a picture was made from. What comes from others may be broken: then there is none,
 * because the picture would not be valid either.
 */
const parentStore = async ({ library }: Signing, madeFrom: Uint8Array): Promise<Store | undefined> => {
  try {
    const asset = assetOf(library, madeFrom);
    const bytes = asset.getManifestJUMBF();
    if (bytes === undefined || bytes.length > PARENT_BYTES_MAX) return undefined;
    const store = library.manifest.ManifestStore.read(library.jumbf.SuperBox.fromBuffer(new Uint8Array(bytes)));
    const { isValid } = await store.validate(asset);
    return isValid && store.getActiveManifest() !== undefined ? store : undefined;
  } catch {
    return undefined;
  }
};

const signed = async (
  { library, signer }: Signing,
  picture: Uint8Array,
  sourceType: DigitalSourceType,
  parents?: Store,
): Promise<Uint8Array> => {
  const { ManifestStore, DataHashAssertion, ActionAssertion } = library.manifest;
  const asset = assetOf(library, picture);
  const store = parents ?? new ManifestStore();
  const parent = store.getActiveManifest();
  // The ids follow from the bytes, so that the same picture gets the same manifest.
  const id = uuidOf(picture, parent?.label);
  const manifest = store.createManifest({
    assetFormat: asset.mimeType,
    instanceID: `xmp:iid:${id}`,
    defaultHashAlgorithm: "SHA-256",
    signer,
  });
  manifest.label = `urn:uuid:${id}`;
  const { claim, signature } = manifest;
  if (claim !== undefined) claim.claimGeneratorName = "Panorama";
  if (signature !== undefined) signature.signatureData.paddingLength = SIGNATURE_PADDING_BYTES;
  const hash = DataHashAssertion.create("SHA-512");
  manifest.addAssertion(hash);
  const actions = new ActionAssertion();
  actions.actions.push(firstAction(library, manifest, sourceType, parent?.label));
  manifest.addAssertion(actions);
  await asset.ensureManifestSpace(store.measureSize());
  await hash.updateWithAsset(asset);
  await manifest.sign(signer);
  await asset.writeManifestJUMBF(store.getBytes());
  return asset.getDataRange();
};

const firstAction = (
  { manifest: { ActionType, IngredientAssertion, RelationshipType } }: Library,
  manifest: ReturnType<Store["createManifest"]>,
  sourceType: DigitalSourceType,
  parent: string | undefined,
): Action => {
  const digitalSourceType = sourceTypeUrl(sourceType) as NonNullable<Action["digitalSourceType"]>;
  if (parent === undefined) return { action: ActionType.C2paCreated, digitalSourceType };
  const ingredient = IngredientAssertion.createV3(RelationshipType.ParentOf);
  ingredient.title = "The picture before";
  ingredient.instanceID = `xmp:iid:${uuidOf(Buffer.from(parent))}`;
  ingredient.activeManifest = manifest.createHashedReference(`/c2pa/${parent}`);
  ingredient.claimSignature = manifest.createHashedReference(`/c2pa/${parent}/c2pa.signature`);
  ingredient.validationResults = { activeManifest: { success: [], informational: [], failure: [] } };
  manifest.addAssertion(ingredient);
  const ingredients = [manifest.createHashedReference(`c2pa.assertions/${ingredient.fullLabel}`)];
  return { action: ActionType.C2paOpened, digitalSourceType, parameters: { ingredients } };
};

/** A UUID (version 8) from a digest. */
const uuidOf = (bytes: Uint8Array, parent = ""): string =>
  createHash("sha256")
    .update(parent)
    .update(bytes)
    .digest("hex")
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
