/**
 * Downloads an image and reports the progress in percent. Rejects unless the whole image arrives. The session is sent
 * to this origin only: it serves owners panoramas that are hidden from others.
 */
export const fetchWithProgress = async (url: string, onProgress: (percent: number) => void): Promise<Blob> => {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
  const total = Number(response.headers.get("content-length"));
  const chunks: BlobPart[] = [];
  let received = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    received += value.length;
    if (total > 0) onProgress(Math.min(100, Math.round((received / total) * 100)));
  }
  return new Blob(chunks, { type: response.headers.get("content-type") ?? "image/jpeg" });
};
