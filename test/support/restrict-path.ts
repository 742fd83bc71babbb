import { expect, inject } from "vitest";

/**
 * Before each test file: those that CI runs after it has installed programs find all of this machine. Others find what
 * a machine has that has nothing but Node.js and npm, so that nobody adds a hidden dependency.
 */
const NEEDS_PROGRAMS = /\.program\.test\.ts$/;

const { whole, restricted } = inject("paths");
process.env.PATH = NEEDS_PROGRAMS.test(expect.getState().testPath ?? "") ? whole : restricted;
