// Packs the files of a folder for hosts that send them packed: `node pack.mjs FOLDER` writes NAME.br and NAME.gz beside
// each that becomes smaller.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.argv[2];
const LARGE = 2 ** 16, QUICK = 9, BEST = 11; // the best takes half a minute for the largest file, and gains a tenth
for (const name of readdirSync(folder)) {
  const data = readFileSync(join(folder, name));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: data.length > LARGE ? QUICK : BEST,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: data.length,
  };
  for (const [ending, packed] of [["br", brotliCompressSync(data, { params })], ["gz", gzipSync(data, { level: 9 })]]) {
    if (packed.length < data.length) writeFileSync(join(folder, `${name}.${ending}`), packed);
  }
}
