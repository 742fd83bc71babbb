import type { DigitalSourceType } from "../../application/ports/generation-provider.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import { SOURCE_TYPES } from "./provenance/sign-picture.js";

/**
 * The XMP packet that marks an image of this size as a full 360° panorama (Photo Sphere, namespace GPano), and says how
 * it was made (IPTC digital source type). The size must be the actual size of the image.
 */
export const photoSphereXmp = (
  { widthPixels, heightPixels }: PixelSize,
  sourceType: DigitalSourceType,
): string => `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""
 xmlns:GPano="http://ns.google.com/photos/1.0/panorama/"
 xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
 GPano:ProjectionType="equirectangular" GPano:UsePanoramaViewer="True"
 GPano:CroppedAreaImageWidthPixels="${widthPixels}" GPano:CroppedAreaImageHeightPixels="${heightPixels}"
 GPano:FullPanoWidthPixels="${widthPixels}" GPano:FullPanoHeightPixels="${heightPixels}"
 GPano:CroppedAreaLeftPixels="0" GPano:CroppedAreaTopPixels="0" GPano:PoseHeadingDegrees="0"
 ${MARK}${sourceType}"/>
</rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;

/** The XMP packet of other pictures: only how they were made. */
export const sourceTypeXmp = (
  sourceType: DigitalSourceType,
): string => `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" ${MARK}${sourceType}"/>
</rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;

const MARK = `Iptc4xmpExt:DigitalSourceType="${SOURCE_TYPES}`;
const TYPES: readonly DigitalSourceType[] = ["compositeWithTrainedAlgorithmicMedia", "algorithmicMedia"];

/** Origin of a panorama of this service, by its XMP. Without XMP it counts as made by a trained model. */
export const sourceTypeIn = (panorama: Uint8Array): DigitalSourceType => {
  const bytes = Buffer.from(panorama.buffer, panorama.byteOffset, panorama.length);
  const start = bytes.indexOf(MARK, 0, "latin1") + MARK.length;
  const mark = start < MARK.length ? "" : bytes.toString("latin1", start, start + 64);
  return TYPES.find((type) => mark.startsWith(`${type}"`)) ?? "trainedAlgorithmicMedia";
};
