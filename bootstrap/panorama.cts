#!/usr/bin/env node
const { startOnNode } = require("./start-on-node.cjs");

startOnNode("panorama", "20.19", process.getBuiltinModule !== undefined, () => {
  // sharp, SQLite, scrypt and file access share libuv's thread pool. Its default of 4 threads is too small for them.
  // The size is fixed at the first use, and loading an ES module is a use: therefore this file is CommonJS.
  process.env.UV_THREADPOOL_SIZE = process.env.UV_THREADPOOL_SIZE || "16";

  // uWebSockets reads it when it is loaded: the largest header block that may arrive in several packets, in bytes. Its
  // default of 4096 answers 431 to larger ones, but only if the network splits them.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = process.env.UWS_HTTP_MAX_HEADERS_SIZE || "16384";

  // From version 22 on, Node.js keeps compiled code on the disk, so that later starts need not compile it again.
  const nodeModule = process.getBuiltinModule("node:module") as { enableCompileCache?: () => unknown };
  if (nodeModule.enableCompileCache !== undefined) nodeModule.enableCompileCache();

  return import("./main.js");
});
