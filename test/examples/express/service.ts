// Panoramas in an Express service, in one process on one machine. It forgets nothing: its data are in the folder `data`.
// PORT=8080 node service.js
import { mkdirSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import express from "express";
