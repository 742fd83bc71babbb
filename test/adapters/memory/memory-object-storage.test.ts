import { describe, it } from "vitest";
import { objectStorageContract } from "../../../adapters/contracts/object-storage-contract.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";

describe("MemoryObjectStorage", () => {
  objectStorageContract({ describe, it }, async () => new MemoryObjectStorage());
});
