/* `panorama-service` itself: the same as `panorama-core`, so that a program needs one of the two. */
export * from "../panorama-core/index.js";
