/* `panorama-core/memory`: adapters that forget everything when the process ends. */
export * from "../../../adapters/memory/hand-clock.js";
export * from "../../../adapters/memory/in-process-signals.js";
export * from "../../../adapters/memory/memory-ids.js";
export * from "../../../adapters/memory/memory-imaging.js";
export * from "../../../adapters/memory/memory-object-storage.js";
export * from "../../../adapters/memory/memory-payments.js";
export * from "../../../adapters/memory/memory-ports.js";
export * from "../../../adapters/memory/memory-provider-webhooks.js";
export * from "../../../adapters/memory/memory-secrets.js";
export * from "../../../adapters/memory/recording-ports.js";
export * from "../../../adapters/memory/scripted-provider.js";
