import { type DigitalSourceType, SOURCE_TYPES } from "../../domain/images/source-type.js";

/** Address of an IPTC digital source type, in XMP and in C2PA manifests. */
export const sourceTypeUrl = (sourceType: DigitalSourceType | ""): string =>
  `http://cv.iptc.org/newscodes/digitalsourcetype/${sourceType}`;

/** The property of XMP, open for the namespace prefix of `sourceTypeXmp`. */
export const sourceTypeProperty = (sourceType: DigitalSourceType): string => `${MARK}${sourceType}"`;

const MARK = `Iptc4xmpExt:DigitalSourceType="${sourceTypeUrl("")}`;

/** The XMP packet of a picture that says only how it was made. */
export const sourceTypeXmp = (
  sourceType: DigitalSourceType,
): string => `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" ${sourceTypeProperty(sourceType)}/>
</rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;

/** Origin of a picture of this service, by its XMP. Without XMP it counts as made by a trained model. */
export const sourceTypeIn = (picture: Uint8Array): DigitalSourceType => {
  const bytes = Buffer.from(picture.buffer, picture.byteOffset, picture.length);
  const start = bytes.indexOf(MARK, 0, "latin1") + MARK.length;
  const mark = start < MARK.length ? "" : bytes.toString("latin1", start, start + 64);
  return SOURCE_TYPES.find((type) => mark.startsWith(`${type}"`)) ?? "trainedAlgorithmicMedia";
};
