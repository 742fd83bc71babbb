/** One sentence for the operator. */
export const cannotListen = (host: string, port: number, error: NodeJS.ErrnoException): Error =>
  new Error(
    error.code === "EADDRINUSE"
      ? `Port ${port} on ${host} is in use. Stop the process that listens there, or choose another port.`
      : `Cannot listen on ${host}, port ${port}: ${error.message}.`,
  );
