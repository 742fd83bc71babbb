import { describe, it } from "vitest";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import { objectStorageContract } from "../../../contracts/object-storage-contract.js";

describe("MemoryObjectStorage", () => {
  objectStorageContract({ describe, it }, async () => new MemoryObjectStorage());
});
