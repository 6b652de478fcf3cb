/** The version of this library, which is that of the service. */

import { readFileSync } from "node:fs";

const PACKAGE = new URL("../package.json", import.meta.url);

/** The version in `package.json`. */
export const VERSION = (JSON.parse(readFileSync(PACKAGE, "utf8")) as { version: string }).version;
