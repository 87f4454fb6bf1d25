// A TCP link that a test can cut: the processes reach a service through it, and the service itself goes on undisturbed.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** Resets every connection and refuses new ones. */
  cut(): void;
  /** Keeps every connection, and nothing comes through any more, in either direction. */
  swallow(): void;
  heal(): void;
  close(): Promise<void>;
}

/** To the server that an address names; `url` is the same address through the link. */
export async function openProxyTo(address: string): Promise<TcpProxy & { readonly url: string }> {
  const url = new URL(address);
  const proxy = await openProxy({ host: url.hostname, port: Number(url.port) });
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  return { ...proxy, url: url.toString() };
}

export async function openProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isSwallowing = false;
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
      if (isSwallowing) from.pause();
      from.on("data", (data: Buffer) => to.write(data));
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
    swallow: () => {
      isSwallowing = true;
      for (const socket of sockets) socket.pause();
    },
    heal: () => {
      isCut = false;
      isSwallowing = false;
      for (const socket of sockets) socket.resume();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
