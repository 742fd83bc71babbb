import type { PixelSize } from "../../domain/images/resolution.js";
import type { DigitalSourceType } from "../../domain/images/source-type.js";
import { sourceTypeProperty } from "../system/source-type-xmp.js";

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
 ${sourceTypeProperty(sourceType)}/>
</rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;
