/* The packages contain this class: the rest of @mikro-orm/sqlite needs sqlite3, which an installation compiles. */
export { SqlitePlatform } from "@mikro-orm/sqlite";
