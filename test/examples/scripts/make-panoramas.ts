// Makes a panorama of each prompt and saves the pictures. Run it again after a failure: what is made is not paid twice.
// PANORAMA_BASE_URL=… PANORAMA_API_KEY=… node make-panoramas.js "a quiet lake" "a hill in fog"
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { PanoramaClient, TaskFailedError } from "panorama-client";

const client = new PanoramaClient();

const make = async (prompt: string, number: number): Promise<string> => {
  const idempotencyKey = createHash("sha256").update(prompt).digest("hex"); // the same in each run
  try {
    const { output } = await client.run({ prompt, resolution: "1k" }, { idempotencyKey });
    const picture = await fetch(output.image_url);
    await writeFile(`panorama-${number}.jpg`, new Uint8Array(await picture.arrayBuffer()));
    return "saved";
  } catch (error) {
    if (error instanceof TaskFailedError) return `failed: ${error.reason}`; // its credits are back
    throw error; // a PanoramaError says why in `code`
  }
};

const outcomes = await Promise.all(process.argv.slice(2).map(make));
const tasks: string[] = [];
for await (const { status } of client.list()) tasks.push(status);
const { remaining_credits } = await client.credits();
console.log(JSON.stringify({ outcomes, tasks: tasks.sort(), remaining_credits }));
