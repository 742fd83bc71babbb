#!/usr/bin/env node
// sharp, SQLite, scrypt and file access share libuv's thread pool, whose default of 4 is too small for them. It takes
// its size when it is first used, and loading an ES module uses it: hence this one CommonJS file.
process.env.UV_THREADPOOL_SIZE ??= "16";
void import("./main.js");
