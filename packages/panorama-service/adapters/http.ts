/* `panorama-service/adapters/http`: the REST interface on a server of yours. */
export * from "../../../adapters/http/cors.js";
export * from "../../../adapters/http/observer.js";
export * from "../../../adapters/http/replies/assets.js";
export * from "../../../adapters/http/rest-routes.js";
