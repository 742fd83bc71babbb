// A script with the typed client: creates a panorama, waits for it, and prints its URL. Its key and the service are in
// PANORAMA_API_KEY and PANORAMA_BASE_URL.
import { PanoramaClient, TaskFailedError } from "panorama-client";

const client = new PanoramaClient();
try {
  const { output } = await client.run({ prompt: "a quiet lake at sunset", resolution: "1k", max_credits: 10 });
  console.log(output.image_url);
} catch (error) {
  if (!(error instanceof TaskFailedError)) throw error; // a PanoramaError says why in `code`
  console.error(error.message, error.reason);
}
