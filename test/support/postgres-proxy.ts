import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy to the PostgreSQL server at this URL, which can hold back its answers, as a lost network does. */
export const aProxyTo = async (server: string) => {
  const url = new URL(server);
  const serverPort = Number(url.port);
  const sockets: Socket[] = [];
  const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
  let holds = false;
  let held: (() => void)[] = [];
  let statements = 0;
  let connections = 0;
  const proxy = createServer((near) => {
    connections += 1;
    const far = connect(serverPort, url.hostname);
    sockets.push(near, far);
    near.on("error", () => {}).on("close", () => far.destroy());
    far.on("error", () => {}).on("close", () => near.destroy());
    near.on("data", (data) => {
      if (holds) for (let at = data.indexOf(SYNC); at !== -1; at = data.indexOf(SYNC, at + 1)) statements += 1;
      far.write(data);
    });
    far.on("data", (data) => {
      if (holds) held.push(() => near.write(data));
      else near.write(data);
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  url.port = String((proxy.address() as { port: number }).port);
  return {
    url: url.href,
    connections: () => connections,
    /** Statements sent since the answers are held back. */
    statementsHeld: () => statements,
    holdAnswers: () => {
      holds = true;
    },
    passAnswers: () => {
      holds = false;
      for (const pass of held) pass();
      held = [];
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
};
