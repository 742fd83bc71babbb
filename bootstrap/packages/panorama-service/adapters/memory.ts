/* `panorama-service/adapters/memory`: what `panorama-core/memory` has, and the stores on SQLite in memory. */
export * from "../../../../adapters/persistence/memory-stores.js";
export * from "../../panorama-core/memory.js";
