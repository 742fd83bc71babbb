/* `panorama-core/testing`: what every adapter of a port must do, for any test runner. It needs fast-check. */
export * from "../../../adapters/contracts/generation-provider-contract.js";
export * from "../../../adapters/contracts/meter/meter-contract.js";
export * from "../../../adapters/contracts/meter/meter-store-contract.js";
export * from "../../../adapters/contracts/object-storage-contract.js";
export * from "../../../adapters/contracts/support/builders.js";
export * from "../../../adapters/contracts/support/test-functions.js";
export * from "../../../adapters/contracts/tasks/task-queue-contract.js";
export * from "../../../adapters/contracts/tasks/task-setup.js";
export * from "../../../adapters/contracts/tasks/task-store-contract.js";
