// The REST interface below /panoramas of a Hono app with routes of its own. Bun, Deno and others serve `app.fetch`.
import { Hono } from "hono";
import type { Application, ObjectStorage } from "panorama-service";
import { fetchRoutes } from "panorama-service/adapters/http";

export const honoApp = async (application: Application, storage: ObjectStorage) => {
  const publicUrl = "https://example.com/panoramas";
  const panoramas = await fetchRoutes(application, { basePath: "/panoramas", publicUrl, storage });
  const app = new Hono();
  app.get("/about", (c) => c.text("a page of yours"));
  app.all("/panoramas/*", (c) => panoramas.fetch(c.req.raw));
  return { app, stop: panoramas.stop }; // `stop` ends long waits and answers requests in flight
};
