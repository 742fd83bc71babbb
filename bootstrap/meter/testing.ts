/* The package panorama-meter/testing: the contract suites that every store of a meter passes. */
export { describeMeter } from "../../adapters/contracts/meter-contract.js";
export { describeMeterStore, type MeterStoreUnderTest } from "../../adapters/contracts/meter-store-contract.js";
export type { SuiteOptions } from "../../adapters/contracts/support/suite-options.js";
export type { TestFunctions } from "../../adapters/contracts/support/test-functions.js";
export { HandClock } from "../../adapters/memory/hand-clock.js";
export { taskId } from "../../domain/ids.js";
