// viem, which is installed with the compiler in contracts/node_modules.
import { createRequire } from "node:module";

const require = createRequire(new URL("../../contracts/package.json", import.meta.url));
export const viem = require("viem");
export const { privateKeyToAccount } = require("viem/accounts");
