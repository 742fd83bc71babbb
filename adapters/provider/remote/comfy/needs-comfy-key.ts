/** Whether Comfy itself is at the URL. A proxy of the operator's own asks for a key only if it was given one. */
export const needsComfyKey = (baseUrl: string): boolean => {
  const { hostname } = new URL(baseUrl);
  return hostname === "cloud.comfy.org" || hostname.endsWith(".run.comfy.app");
};
