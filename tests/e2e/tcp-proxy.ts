// A TCP link that a test can cut: the processes reach a service through it, and the service itself goes on undisturbed.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** Resets every connection and refuses new ones. */
  cut(): void;
  heal(): void;
  close(): Promise<void>;
}

export async function openProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const service = connect(target.port, target.host);
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    port: address.port,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    heal: () => {
      isCut = false;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
