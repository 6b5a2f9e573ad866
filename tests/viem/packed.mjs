// The adjudicator's packed calldata, written and read without a library, from contracts/README.md alone and without an
// ABI. Values are as in JSON: bytes in hex, large numbers as decimal strings. Calldata is hex with its selector.
import { keccak256 } from "./keccak.mjs";

const WORD = 32;
const LONGEST_RUN = 64;
const [FINAL, SAME_OUTCOME, IN_WORDS, EVIDENCE_HASH, EVIDENCE] = [1, 2, 4, 8, 16];
const [FROM_RECORD, ETHER_HOME] = [128, 128];
const [ANOTHER_ASSET, REST] = [62, 63];
const [ZEROS, AS_BEFORE, WHOLE] = [64, 128, 192];
const ETHER = `0x${"00".repeat(20)}`;

const bytes = (hex) => Buffer.from(hex.slice(2), "hex");
const hex = (buffer) => `0x${buffer.toString("hex")}`;
const selector = (name) => keccak256(Buffer.from(`${name}()`)).subarray(0, 4);
const same = (a, b) => JSON.stringify(a).toLowerCase() === JSON.stringify(b).toLowerCase();

/** A number in this many bytes, or in as few as it has. */
function number(value, size) {
  const digits = BigInt(value).toString(16);
  const shortest = BigInt(value) === 0n ? "" : digits.padStart(digits.length + (digits.length % 2), "0");
  return Buffer.from(size === undefined ? shortest : shortest.padStart(2 * size, "0"), "hex");
}

// ------------------------------------------------------------------------------------------------------------ writing

const call = (name, ...parts) => hex(Buffer.concat([selector(name), ...parts]));

export function challengeCall(fixedPart, proof, challengerSignature = null) {
  const signature = challengerSignature === null ? Buffer.alloc(0) : bytes(challengerSignature);
  return call("challenge", writeFixedPart(fixedPart), writeProof(fixedPart, proof), signature);
}

export const checkpointCall = (fixedPart, proof) =>
  call("checkpoint", writeFixedPart(fixedPart), writeProof(fixedPart, proof));

export function respondCall(fixedPart, challenged, response, signature) {
  const states = [writeState(fixedPart, challenged, null, true), writeState(fixedPart, response, challenged, false)];
  return call("respond", writeFixedPart(fixedPart), ...states, bytes(signature));
}

export function concludeCall(fixedPart, outcome, turnNum, signatures, push) {
  const parts = [number(turnNum, 6), writeOutcome(outcome, fixedPart), ...signatures.map(bytes), number(push, 1)];
  return call("conclude", writeFixedPart(fixedPart), ...parts);
}

export function transferCall(channelId, asset, stateHash, outcome, indices, push) {
  const home = { asset, total: "0", participants: [] };
  const chosen = indices.length ? [indices.length, ...indices] : [];
  const place = [bytes(channelId), ...(BigInt(asset) === 0n ? [number(0, 1)] : [number(20, 1), bytes(asset)])];
  return call("transfer", ...place, bytes(stateHash), writeOutcome(outcome, home), Buffer.from([...chosen, push]));
}

export const batchCall = (items) =>
  call("batch", ...items.flatMap(({ gas, calldata }) => [number(gas, 3), number(bytes(calldata).length, 2), bytes(calldata)]));

/** By the operation's name, of a fixed part and a call as they are in vectors.json. */
export const write = {
  challenge: (fixedPart, call) => challengeCall(fixedPart, call, call.challengerSignature),
  checkpoint: checkpointCall,
  respond: (fixedPart, { challenged, response, signature }) => respondCall(fixedPart, challenged, response, signature),
  conclude: (fixedPart, { outcome, turnNum, signatures, push }) =>
    concludeCall(fixedPart, outcome, turnNum, signatures, push),
  transfer: (_, { channelId, asset, stateHash, outcome, indices, push }) =>
    transferCall(channelId, asset, stateHash, outcome, indices, push),
  batch: (_, { items }) => batchCall(items),
};

function writeFixedPart({ participants, channelNonce, appDefinition, challengeDuration, asset, total }) {
  const isEther = BigInt(asset) === 0n;
  return Buffer.concat([
    number(participants.length + (isEther ? ETHER_HOME : 0), 1),
    number(channelNonce, 8),
    bytes(appDefinition),
    number(challengeDuration, 4),
    ...(isEther ? [] : [bytes(asset)]),
    number(number(total).length, 1),
    number(total),
    ...participants.map(bytes),
  ]);
}

function writeProof(fixedPart, { signatures, states, signedStates }) {
  const fromRecord = signatures.length === states.length - 1 && BigInt(signedStates) === 0n;
  const several = states.length > 1;
  const indices = number(signedStates, fixedPart.participants.length).reverse();
  return Buffer.concat([
    number(states.at(-1).turnNum, 6),
    number(states.length + (fromRecord ? FROM_RECORD : 0), 1),
    ...states.map((state, place) => writeState(fixedPart, state, states[place - 1] ?? null, several && place === 0)),
    ...(several && !fromRecord ? [indices] : []),
    ...signatures.map(bytes),
  ]);
}

function writeOutcome(outcome, { asset: home, total, participants }) {
  const isHome = ({ asset }) => BigInt(asset) === BigInt(home);
  const sum = outcome.filter(isHome).reduce((before, { amount }) => before + BigInt(amount), 0n);
  const restAt = BigInt(total) !== 0n && sum === BigInt(total) ? outcome.findLastIndex(isHome) : -1;
  const parts = [number(outcome.length, 1)];
  let current = BigInt(home);
  for (const [place, { asset, destination, amount }] of outcome.entries()) {
    if (BigInt(asset) !== current) parts.push(number(ANOTHER_ASSET, 1), bytes(asset));
    current = BigInt(asset);
    const isAddress = BigInt(destination) < 2n ** 160n;
    const isParticipant = BigInt(participants[place] ?? -1) === BigInt(destination);
    const to = isParticipant ? Buffer.alloc(0) : bytes(destination).subarray(isAddress ? 12 : 0);
    const kind = isParticipant ? 0 : isAddress ? 1 : 2;
    const value = place === restAt ? Buffer.alloc(0) : number(amount);
    parts.push(number(64 * kind + (place === restAt ? REST : value.length), 1), to, value);
  }
  return Buffer.concat(parts);
}

/** `before` is null where there is none; `mayHash`: nobody asks for the evidence. */
function writeState(fixedPart, state, before, mayHash) {
  const parts = [];
  let flags = state.isFinal ? FINAL : 0;
  if (before && same(before.outcome, state.outcome)) flags += SAME_OUTCOME;
  else parts.push(writeOutcome(state.outcome, fixedPart));
  const appData = bytes(state.appData);
  const words = writeWords(appData, before ? bytes(before.appData) : Buffer.alloc(0));
  if (words && words.length < 2 + appData.length) {
    flags += IN_WORDS;
    parts.push(words);
  } else parts.push(number(appData.length, 2), appData);
  const evidence = bytes(state.evidence);
  if (mayHash && !state.isFinal && evidence.length + 2 > WORD) {
    flags += EVIDENCE_HASH;
    parts.push(keccak256(evidence));
  } else if (evidence.length) {
    flags += EVIDENCE;
    parts.push(number(evidence.length, 2), evidence);
  }
  return Buffer.concat([number(flags, 1), ...parts]);
}

/** Null where it is not of at most 255 whole words. */
function writeWords(appData, before) {
  if (appData.length % WORD || appData.length / WORD > 255) return null;
  const words = Array.from({ length: appData.length / WORD }, (_, place) => appData.subarray(WORD * place, WORD * (place + 1)));
  const low = words.map((each) => number(BigInt(hex(each))));
  const asBefore = words.map((each, place) => each.equals(before.subarray(WORD * place, WORD * (place + 1))));
  const isZero = low.map((each) => each.length === 0);
  const isWhole = low.map((each, place) => each.length > 30 && !asBefore[place]);
  const runOf = (fits, place) => {
    const end = fits.slice(place, place + LONGEST_RUN).indexOf(false);
    return end < 0 ? Math.min(LONGEST_RUN, fits.length - place) : end;
  };
  const parts = [number(words.length, 1)];
  for (let place = 0; place < words.length; ) {
    const [old, zeros, whole] = [asBefore, isZero, isWhole].map((fits) => runOf(fits, place));
    const run = Math.max(old, zeros) || whole || 1;
    if (old || zeros) parts.push(number((old >= zeros ? AS_BEFORE : ZEROS) + run - 1, 1));
    else if (whole) parts.push(number(WHOLE + run - 1, 1), ...words.slice(place, place + run));
    else parts.push(number(low[place].length, 1), low[place]);
    place += run;
  }
  return Buffer.concat(parts);
}

// ------------------------------------------------------------------------------------------------------------ reading

/** Bytes mean nothing: `name` is that of the adjudicator's error, `values` are its values. */
export class Unreadable extends Error {
  constructor(name, ...values) {
    super(`${name}(${values.join(", ")})`);
    Object.assign(this, { name, values });
  }
}

class Reader {
  /** Places are counted from the selector on. */
  constructor(calldata) {
    this.data = bytes(calldata);
    this.at = 4;
  }

  get left() {
    return this.data.length - this.at;
  }

  /** The next bytes; beyond the end there are zeros. */
  take(size) {
    const taken = Buffer.alloc(size);
    this.data.copy(taken, 0, this.at, this.at + size);
    this.at += size;
    return taken;
  }

  number(size = 1) {
    return size ? BigInt(hex(this.take(size))) : 0n;
  }

  byte() {
    return Number(this.number());
  }

  hex(size) {
    return hex(this.take(size));
  }

  list(count, read) {
    return Array.from({ length: count }, read);
  }

  signatures(count) {
    return this.list(count, () => this.hex(64));
  }

  end() {
    if (this.left) throw new Unreadable("LengthMismatch", this.at, this.data.length);
  }
}

/** The bytes of `at` must mean something. */
function requireThat(condition, at) {
  if (!condition) throw new Unreadable("NotCanonical", at);
}

/** { fixedPart, states, signatures } of a checkpoint's calldata; of the first of several states the evidence may be a
 *  hash. A logged proof from the record may be without its signatures. */
export function readCheckpoint(calldata, isLogged = false) {
  const reader = new Reader(calldata);
  const fixedPart = readFixedPart(reader);
  const proof = readProof(reader, fixedPart, isLogged);
  reader.end();
  return { fixedPart, ...proof };
}

/** { fixedPart, challenged, response, signature } of a response's calldata, which has no turns. */
export function readRespond(calldata, turnNum) {
  const reader = new Reader(calldata);
  const fixedPart = readFixedPart(reader);
  const challenged = readState(reader, fixedPart, turnNum - 1, null, true);
  const response = readState(reader, fixedPart, turnNum, challenged, false);
  const signature = reader.hex(64);
  reader.end();
  return { fixedPart, challenged, response, signature };
}

function readFixedPart(reader) {
  const head = reader.byte();
  requireThat((head & 0x70) === 0, reader.at - 1);
  const [channelNonce, appDefinition] = [String(reader.number(8)), reader.hex(20)];
  const challengeDuration = Number(reader.number(4));
  const asset = head & ETHER_HOME ? ETHER : reader.hex(20);
  const size = reader.byte();
  requireThat(size <= WORD, reader.at - 1);
  const total = String(reader.number(size));
  const participants = reader.list(head & 0x0f, () => reader.hex(20));
  return { participants, channelNonce, appDefinition, challengeDuration, asset, total };
}

function readProof(reader, fixedPart, isLogged) {
  const players = fixedPart.participants.length;
  const lastTurn = Number(reader.number(6));
  const head = reader.byte();
  const [count, fromRecord] = [head & 127, (head & FROM_RECORD) !== 0];
  if (count < 1 || count > players) throw new Unreadable("StateCountOutOfRange", count);
  requireThat(count <= lastTurn + 1, reader.at - 1);
  const states = [];
  for (let place = 0; place < count; place++) {
    const mayHash = place === 0 && count > 1;
    states.push(readState(reader, fixedPart, lastTurn + 1 - count + place, states.at(-1) ?? null, mayHash));
  }
  if (count > 1 && !fromRecord) reader.take(players);
  const signers = fromRecord ? count - 1 : players;
  return { states, signatures: reader.signatures(isLogged && fromRecord && reader.left === 0 ? 0 : signers) };
}

function readOutcome(reader, { asset: home, total, participants }) {
  let [asset, soFar] = [home, 0n];
  return reader.list(reader.byte(), (_, place) => {
    let tag = reader.byte();
    if (tag === ANOTHER_ASSET) [asset, tag] = [reader.hex(20), reader.byte()];
    const [tagAt, kind, size] = [reader.at - 1, tag >> 6, tag & 63];
    const isHome = BigInt(asset) === BigInt(home);
    const hasRest = isHome && BigInt(total) !== 0n && soFar <= BigInt(total);
    requireThat(kind < 3 && (size <= WORD || (size === REST && hasRest)), tagAt);
    requireThat(kind !== 0 || place < participants.length, tagAt);
    const to = kind === 0 ? bytes(participants[place]) : reader.take(kind === 1 ? 20 : WORD);
    const amount = size === REST ? BigInt(total) - soFar : reader.number(size);
    if (isHome) soFar = (soFar + amount) % 2n ** 256n;
    const destination = hex(Buffer.concat([Buffer.alloc(WORD - to.length), to]));
    return { asset, destination, amount: String(amount) };
  });
}

function readState(reader, fixedPart, turnNum, before, mayHash) {
  const flags = reader.byte();
  const [flagsAt, has] = [reader.at - 1, (flag) => (flags & flag) !== 0];
  requireThat(flags < 32 && !(has(SAME_OUTCOME) && !before), flagsAt);
  requireThat(!has(EVIDENCE_HASH) || (mayHash && !has(EVIDENCE) && !has(FINAL)), flagsAt);
  const outcome = has(SAME_OUTCOME) ? before.outcome : readOutcome(reader, fixedPart);
  const readBytes = () => reader.hex(Number(reader.number(2)));
  const appData = has(IN_WORDS) ? readWords(reader, before ? bytes(before.appData) : Buffer.alloc(0)) : readBytes();
  const evidenceHash = has(EVIDENCE_HASH) ? { evidenceHash: reader.hex(WORD) } : {};
  const evidenceAt = reader.at;
  const evidence = has(EVIDENCE) ? readBytes() : "0x";
  requireThat(!has(EVIDENCE) || evidence !== "0x", evidenceAt);
  return { outcome, appData, evidence, ...evidenceHash, turnNum, isFinal: has(FINAL) };
}

function readWords(reader, before) {
  const appData = Buffer.alloc(WORD * reader.byte());
  for (let start = 0; start < appData.length; ) {
    const [at, mark] = [reader.at, reader.byte()];
    const kind = mark & 0xc0;
    const end = start + WORD * (mark <= WORD ? 1 : (mark & 63) + 1);
    requireThat(mark <= WORD || (kind && end <= appData.length && (kind !== AS_BEFORE || end <= before.length)), at);
    if (mark <= WORD) reader.take(mark).copy(appData, end - mark);
    else if (kind === WHOLE) reader.take(end - start).copy(appData, start);
    else if (kind === AS_BEFORE) before.copy(appData, start, start, end);
    start = end;
  }
  return hex(appData);
}
