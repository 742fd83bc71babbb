/** IPTC digital source types: a trained model, a trained model with the customer's photos, or rules alone. */
export const SOURCE_TYPES = [
  "trainedAlgorithmicMedia",
  "compositeWithTrainedAlgorithmicMedia",
  "algorithmicMedia",
] as const;
/** One of `SOURCE_TYPES`. */
export type DigitalSourceType = (typeof SOURCE_TYPES)[number];

/** True unless rules alone made the picture. A picture of unknown origin counts as made by a trained model. */
export const isAiGenerated = (sourceType: DigitalSourceType | undefined): boolean => sourceType !== "algorithmicMedia";

/** What pages and link previews say of a picture. */
export const sourceLabel = (sourceType: DigitalSourceType | undefined): "Made with AI" | "Drawn with rules" =>
  isAiGenerated(sourceType) ? "Made with AI" : "Drawn with rules";
