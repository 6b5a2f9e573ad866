// Keccak-256 of a Buffer, which Node does not have: with it the writer of calldata needs no library.
const MASK = (1n << 64n) - 1n;
const RATE = 136;
const rotated = (lane, by) => ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & MASK;

/** The constants of the 24 rounds, from the shift register of the specification. */
function roundConstants() {
  const constants = [];
  for (let round = 0, register = 1; round < 24; round++) {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) constant |= 1n << BigInt(2 ** bit - 1);
      register = (register << 1) ^ (register >> 7 ? 0x171 : 0);
    }
    constants.push(constant);
  }
  return constants;
}

const CONSTANTS = roundConstants();

function permute(lanes) {
  for (const constant of CONSTANTS) {
    const columns = [0, 1, 2, 3, 4].map((x) => [0, 5, 10, 15, 20].reduce((sum, y) => sum ^ lanes[x + y], 0n));
    for (let at = 0; at < 25; at++) lanes[at] ^= columns[(at + 4) % 5] ^ rotated(columns[(at + 1) % 5], 1);
    let [x, y, moved] = [1, 0, lanes[1]];
    for (let step = 1; step <= 24; step++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      [moved, lanes[x + 5 * y]] = [lanes[x + 5 * y], rotated(moved, ((step * (step + 1)) / 2) % 64)];
    }
    for (let row = 0; row < 25; row += 5) {
      const old = lanes.slice(row, row + 5);
      for (let at = 0; at < 5; at++) lanes[row + at] = old[at] ^ (~old[(at + 1) % 5] & MASK & old[(at + 2) % 5]);
    }
    lanes[0] ^= constant;
  }
}

export function keccak256(data) {
  const padded = Buffer.concat([data, Buffer.alloc(RATE - (data.length % RATE))]);
  padded[data.length] ^= 1;
  padded[padded.length - 1] ^= 0x80;
  const lanes = Array(25).fill(0n);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let at = 0; at < RATE / 8; at++) lanes[at] ^= padded.readBigUInt64LE(block + 8 * at);
    permute(lanes);
  }
  const hash = Buffer.alloc(32);
  for (let at = 0; at < 4; at++) hash.writeBigUInt64LE(lanes[at], 8 * at);
  return hash;
}
