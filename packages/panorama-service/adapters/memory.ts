/* `panorama-service/adapters/memory`: the same as `panorama-core/memory`. */
export * from "../../panorama-core/memory.js";
