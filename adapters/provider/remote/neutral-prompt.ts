/** For providers that require a prompt, where the customer has sent only a picture. */
export const NEUTRAL_PROMPT = "a photorealistic panorama of the place in the picture";
