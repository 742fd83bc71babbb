/* The packages contain this class: the rest of @mikro-orm/sqlite needs sqlite3, which is compiled when it is installed. */
export { SqlitePlatform } from "@mikro-orm/sqlite";
