// A process that loads this file first (NODE_OPTIONS=--require) cannot load uWebSockets, as on musl or an older glibc.
const { dlopen } = process;
process.dlopen = (module, filename, ...rest) => {
  if (/uws_[^/\\]*\.node$/.test(filename)) throw new Error("/lib/libc.so.6: version `GLIBC_2.99' not found");
  return dlopen.call(process, module, filename, ...rest);
};
