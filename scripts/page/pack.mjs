// Packs the files of a folder for hosts that send them packed: `node pack.mjs FOLDER` writes NAME.br and NAME.gz beside
// each that becomes smaller. The largest takes half a minute of a core.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const folder = process.argv[2];
const packedAs = {
  br: (data) => promisify(brotliCompress)(data, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: data.length,
    },
  }),
  gz: (data) => promisify(gzip)(data, { level: 9 }),
};
const pack = async (name, ending) => {
  const data = readFileSync(join(folder, name)), packed = await packedAs[ending](data);
  if (packed.length < data.length) writeFileSync(join(folder, `${name}.${ending}`), packed);
};
await Promise.all(readdirSync(folder).flatMap((name) => Object.keys(packedAs).map((ending) => pack(name, ending))));
