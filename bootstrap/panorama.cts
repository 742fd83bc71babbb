#!/usr/bin/env node
// sharp, SQLite, scrypt and file access share libuv's thread pool. Its default of 4 threads is too small for them. The
// size is fixed at the first use, and loading an ES module is a use: therefore this file is CommonJS.
process.env.UV_THREADPOOL_SIZE ??= "16";
void import("./main.js");
