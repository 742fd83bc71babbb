/* `panorama-service/adapters/storage`: where pictures are kept. */
export * from "../../../../adapters/storage/filesystem-object-storage.js";
export * from "../../../../adapters/storage/gcs-object-storage.js";
export * from "../../../../adapters/storage/retry-times.js";
export * from "../../../../adapters/storage/s3-object-storage.js";
