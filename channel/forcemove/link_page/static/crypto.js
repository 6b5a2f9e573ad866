// Curve and hash for Python's stand-ins: bytes in, bytes out; what has no result throws.
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToNumberBE } from "@noble/curves/utils.js";
import { keccak_256 } from "@noble/hashes/sha3.js";

const { Point } = secp256k1;
const RAW = { prehash: false, format: "recovered", lowS: true };
const POINT = 65;

// noble has the parity before r and s, our callers have it behind them.
const turned = (bytes, places) => Uint8Array.from([...bytes.subarray(places), ...bytes.subarray(0, places)]);
const point = (bytes) => Point.fromBytes(bytes);
const shown = (found) => {
  found.assertValidity(); // refuses infinity
  return found.toBytes(false);
};

const functions = {
  keccak256: (data) => keccak_256(data),
  publicKey: (secret) => secp256k1.getPublicKey(secret, false),
  sign: (digest, secret) => turned(secp256k1.sign(digest, secret, RAW), 1),
  recover: (signature, digest) => point(secp256k1.recoverPublicKey(turned(signature, 64), digest, RAW)).toBytes(false),
  parse: (data) => shown(point(data)),
  multiply: (bytes, scalar) => shown(point(bytes).multiplyUnsafe(bytesToNumberBE(scalar))),
  add: (all) => {
    let sum = Point.ZERO;
    for (let at = 0; at < all.length; at += POINT) sum = sum.add(point(all.subarray(at, at + POINT)));
    return shown(sum);
  },
};

// Python's bytes come as proxies, which are turned into arrays; `toJs` copies. Numbers come as they are.
const ofBytes = (given) => (...values) => given(...values.map((each) => each.toJs?.() ?? each));
const { keccak256, ...curve } = Object.fromEntries(Object.entries(functions).map(([name, given]) => [name, ofBytes(given)]));

// Of Web3 Secret Storage: the half of the derived bytes that is for its MAC, and the data under the other half.
const encryptArrays = async (password, salt, iterations, counter, data) => {
  const secret = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, secret, 256);
  const key = await crypto.subtle.importKey("raw", bits.slice(0, 16), "AES-CTR", false, ["encrypt"]);
  const hidden = await crypto.subtle.encrypt({ name: "AES-CTR", counter, length: 128 }, key, data);
  return [new Uint8Array(bits, 16), new Uint8Array(hidden)];
};
const encrypt = ofBytes(encryptArrays);
export { curve, encrypt, keccak256 };
