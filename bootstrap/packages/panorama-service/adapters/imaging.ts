/* `panorama-service/adapters/imaging`: checks, encodes and signs pictures. */
export * from "../../../../adapters/imaging/provenance/sign-picture.js";
export * from "../../../../adapters/imaging/provenance/signing-pair.js";
export * from "../../../../adapters/imaging/sharp-imaging.js";
