/** The body of an answer; `undefined` if it has more bytes, which are not read. */
export const readAtMost = async ({ body }: Response, bytesMax: number): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.getReader(); // not every browser can iterate a stream
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    bytes += read.value.length;
    if (bytes > bytesMax) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(read.value);
  }
  const all = new Uint8Array(bytes);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return all;
};
