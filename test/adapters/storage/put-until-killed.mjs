import { filesystemObjectStorage } from "../../../dist/adapters/storage/filesystem-object-storage.js";
import { panoramaName } from "../../../dist/domain/images/object-name.js";

// A process that puts large objects one after another until it is killed. Each object repeats one byte: its number.
const [folder = ""] = process.argv.slice(2);
const storage = await filesystemObjectStorage({ folder, assetUrl: "https://assets.test" });
for (let number = 0; ; number += 1) {
  await storage.put(
    panoramaName(String(number).padStart(22, "0")),
    Buffer.alloc(4_000_000, number % 256),
    "image/jpeg",
  );
  console.log(number);
}
