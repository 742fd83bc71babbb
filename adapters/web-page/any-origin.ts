/** Of what pages of any origin may show and read, whatever embedder policy (COEP) they have. Sent without cookies. */
export const FOR_ANY_ORIGIN = {
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
} as const;
