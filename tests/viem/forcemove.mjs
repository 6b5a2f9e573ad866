// What a client needs of the protocol, written from contracts/README.md alone: hashes, signatures, records, messages and
// support proofs. States and fixed parts are as in JSON: bytes in hex, large numbers as decimal strings.
import { readFileSync } from "node:fs";

import { viem } from "./packages.mjs";

const { concat, encodeAbiParameters, hashTypedData, hexToBigInt, keccak256, numberToHex, pad, recoverAddress, size, slice } =
  viem;

export const EIP712 = JSON.parse(readFileSync(new URL("../../contracts/eip712.json", import.meta.url)));

const WORD = 2n ** 256n;
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const MAX_ALLOCATIONS = 32;
const MAX_ASSETS = 4;
const MAX_APP_DATA = 8192;
const MAX_PARTICIPANTS = 8;
const MAX_AMOUNT = 2n ** 253n - 1n;
const MAX_TURN_RECORD = 2 ** 32 - 1;
const NOBODY = `0x${"00".repeat(32)}`;

/** A rule is broken, or bytes are not what they should be. `name` is that of the adjudicator's error where it has one. */
export class Refused extends Error {
  constructor(name, message = name) {
    super(message);
    this.name = name;
  }
}

function refuseIf(condition, name, message) {
  if (condition) throw new Refused(name, message);
}

const word = (value) => numberToHex(BigInt(value), { size: 32 });

// ------------------------------------------------------------------------------------------------------------- hashes

/** `domain` is { chainId, adjudicator }. */
export function channelId(domain, fixedPart) {
  const { channelNonce, appDefinition, challengeDuration, asset, total, participants } = fixedPart;
  const place = [word(domain.chainId), pad(domain.adjudicator)];
  const rules = [word(channelNonce), pad(appDefinition), word(challengeDuration), pad(asset), word(total)];
  return keccak256(concat([...place, ...rules, ...participants.map((participant) => pad(participant))]));
}

/** Where the word of an asset of a channel is in the adjudicator's storage. */
export const wordKey = (id, asset) => keccak256(concat([id, pad(asset)]));

/** Where the late word of a channel is, by its home asset. */
export const lateKey = (id, asset) => keccak256(concat([id, word(BigInt(asset) + 2n ** 160n)]));

/** Where a factory puts a contract; the salt is the project's. */
export function deployedAt(factory, creationCode) {
  const salt = viem.stringToHex("forcemove", { size: 32 });
  return slice(keccak256(concat(["0xff", factory, salt, keccak256(creationCode)])), 12);
}

const typehash = (...names) =>
  keccak256(
    viem.stringToHex(
      names.map((name) => `${name}(${EIP712.types[name].map((each) => `${each.type} ${each.name}`).join(",")})`).join(""),
    ),
  );

export function domainSeparator({ chainId, adjudicator }) {
  const { name, version } = EIP712.domain;
  const texts = [name, version].map((text) => keccak256(viem.stringToHex(text)));
  return keccak256(concat([typehash("EIP712Domain"), ...texts, word(chainId), pad(adjudicator)]));
}

export function outcomeHash(outcome) {
  const type = typehash("Allocation");
  const hashes = outcome.map(({ asset, destination, amount }) =>
    keccak256(concat([type, pad(asset), destination, word(amount)])),
  );
  return keccak256(concat(hashes));
}

export function stateHash(id, state) {
  const { outcome, appData, evidence, turnNum, isFinal } = state;
  const hashes = [outcomeHash(outcome), keccak256(appData), keccak256(evidence)];
  return keccak256(concat([typehash("State", "Allocation"), id, ...hashes, word(turnNum), word(isFinal ? 1 : 0)]));
}

export function challengeHash(id, turnNum, hash) {
  return keccak256(concat([typehash("Challenge"), id, word(turnNum), hash]));
}

export function digest(domain, structHash) {
  return keccak256(concat(["0x1901", domainSeparator(domain), structHash]));
}

const low = (value, bits) => value & (2n ** BigInt(bits) - 1n);
const bit = (value, place) => low(value >> BigInt(place), 1) === 1n;

/** What the chain keeps of a state: 186 bits, here in 24 bytes. */
export function fingerprint(hash, hashOfOutcome) {
  return numberToHex(low(hexToBigInt(keccak256(concat([hash, hashOfOutcome]))), 186), { size: 24 });
}

/** The record in the word of a home asset; without one, all is empty. */
export function readStatus(homeWord) {
  const value = bit(hexToBigInt(homeWord), 254) ? hexToBigInt(homeWord) : 0n;
  return {
    isRecorded: bit(value, 254),
    isFull: bit(value, 253),
    hasSurplus: bit(value, 252),
    turnNumRecord: Number(low(value >> 220n, 32)),
    finalizesAt: Number(low(value >> 186n, 34)),
    fingerprint: numberToHex(low(value, 186), { size: 24 }),
  };
}

/** What a channel holds of an asset, by the asset's word, the late word (both in hex) and the channel's total. */
export function readHoldings(assetWord, lateWord, total) {
  const [value, late] = [assetWord, lateWord].map((each) => hexToBigInt(each));
  if (bit(value, 255)) return { held: low(value, 253), payoutBegun: true, closed: true };
  const { isRecorded, isFull } = readStatus(assetWord);
  if (!isRecorded) return { held: low(value, 253), payoutBegun: bit(value, 253), closed: false };
  return { held: low(late, 253) + (isFull ? BigInt(total) : 0n), payoutBegun: bit(late, 253), closed: false };
}

/** The whole JSON that a wallet is given, of a `State` or a `Challenge`. */
export function typedData(domain, primaryType, message) {
  const names = primaryType === "State" ? ["EIP712Domain", "State", "Allocation"] : ["EIP712Domain", primaryType];
  return {
    types: Object.fromEntries(names.map((name) => [name, EIP712.types[name]])),
    primaryType,
    domain: { ...EIP712.domain, chainId: String(domain.chainId), verifyingContract: domain.adjudicator },
    message,
  };
}

export const stateTypedData = (domain, id, state) => typedData(domain, "State", { channelId: id, ...state });

/** The digest of typed data as viem computes it, which wants numbers for what JSON has as text. */
export function typedDataDigest({ types, primaryType, domain, message }) {
  const { EIP712Domain: _, ...rest } = types;
  return hashTypedData({ types: rest, primaryType, domain: { ...domain, chainId: BigInt(domain.chainId) }, message });
}

// --------------------------------------------------------------------------------------------------------- signatures

/** r, s, v (65 bytes) to r, vs (64 bytes). */
export function toCompact(signature) {
  const [r, s, v] = [slice(signature, 0, 32), hexToBigInt(slice(signature, 32, 64)), hexToBigInt(slice(signature, 64, 65))];
  refuseIf(s > HALF_ORDER, "SignatureMalleable");
  return concat([r, word(s + (v === 28n || v === 1n ? WORD / 2n : 0n))]);
}

/** r, vs (64 bytes) to r, s, v (65 bytes). */
export function toLong(compact) {
  refuseIf(size(compact) !== 64, "MalformedBytes", `a signature has 64 bytes, not ${size(compact)}`);
  const vs = hexToBigInt(slice(compact, 32));
  return concat([slice(compact, 0, 32), word(vs % (WORD / 2n)), vs >= WORD / 2n ? "0x1c" : "0x1b"]);
}

/** The address that has signed, in lower case. */
export async function recover(hash, compact) {
  const long = toLong(compact);
  refuseIf(hexToBigInt(slice(long, 32, 64)) > HALF_ORDER, "SignatureMalleable");
  try {
    return (await recoverAddress({ hash, signature: long })).toLowerCase();
  } catch {
    throw new Refused("SignatureUnrecoverable", "nobody can have made this signature");
  }
}

export async function requireSigner(hash, compact, expected) {
  const signer = await recover(hash, compact);
  refuseIf(signer !== expected.toLowerCase(), "WrongSigner", `${signer} has signed, not ${expected}`);
}

// ---------------------------------------------------------------------------------------- states in the ABI, and records

const STATE_ABI = {
  type: "tuple",
  components: [
    { name: "outcome", type: "tuple[]", components: EIP712.types.Allocation },
    { name: "appData", type: "bytes" },
    { name: "evidence", type: "bytes" },
    { name: "turnNum", type: "uint48" },
    { name: "isFinal", type: "bool" },
  ],
};

/** As viem wants it: large numbers as numbers. */
export const asArgument = (state) => ({
  ...state,
  outcome: state.outcome.map((each) => ({ ...each, amount: BigInt(each.amount) })),
});

export const encodeState = (state) => encodeAbiParameters([STATE_ABI], [asArgument(state)]);

/** The layout that messages carry. */
export function encodeRecord(state, signatures) {
  const head = [
    numberToHex(state.turnNum, { size: 6 }),
    numberToHex(state.isFinal ? 1 : 0, { size: 1 }),
    numberToHex(state.outcome.length, { size: 1 }),
    numberToHex(size(state.appData), { size: 2 }),
    numberToHex(size(state.evidence), { size: 2 }),
  ];
  const words = state.outcome.flatMap(({ asset, destination, amount }) => [pad(asset), destination, word(amount)]);
  return concat([...head, slice(concat(words), 12), state.appData, state.evidence, ...signatures]);
}

/** The state and the signatures in a record. */
export function decodeRecord(record) {
  const refuse = (why) => refuseIf(true, "MalformedBytes", `record: ${why}`);
  const length = size(record);
  const number = (start, end) => Number(hexToBigInt(slice(record, start, end)));
  const bytes = (start, end) => (start === end ? "0x" : slice(record, start, end));
  if (length < 96) refuse(`it has ${length} bytes, and no room for an allocation`);
  const [isFinal, count] = [number(6, 7), number(7, 8)];
  const appDataAt = 96 * count;
  const evidenceAt = appDataAt + number(8, 10);
  const signaturesAt = evidenceAt + number(10, 12);
  if (isFinal > 1) refuse("isFinal is neither 0 nor 1");
  if (count < 1 || count > MAX_ALLOCATIONS) refuse(`it has ${count} allocations`);
  if (signaturesAt - appDataAt > MAX_APP_DATA) refuse(`it has ${signaturesAt - appDataAt} bytes of appData and evidence`);
  if (signaturesAt > length || (length - signaturesAt) % 64) refuse(`it has ${length} bytes, which do not fit its head`);
  const outcome = [];
  for (let at = 0; at < appDataAt; at += 96) {
    if (at > 0 && hexToBigInt(slice(record, at, at + 12))) refuse("an asset is wider than an address");
    const amount = hexToBigInt(slice(record, at + 64, at + 96)).toString();
    outcome.push({ asset: slice(record, at + 12, at + 32), destination: slice(record, at + 32, at + 64), amount });
  }
  const signatures = [];
  for (let at = signaturesAt; at < length; at += 64) signatures.push(slice(record, at, at + 64));
  if (signatures.length > MAX_PARTICIPANTS) refuse(`it has ${signatures.length} signatures`);
  const [appData, evidence] = [bytes(appDataAt, evidenceAt), bytes(evidenceAt, signaturesAt)];
  return { state: { outcome, appData, evidence, turnNum: number(0, 6), isFinal: isFinal === 1 }, signatures };
}

/** Which of the logged signatures are of the logged state: by participant. */
export async function signaturesOfLogged(domain, fixedPart, { state, signatures }) {
  const players = fixedPart.participants;
  const hash = digest(domain, stateHash(channelId(domain, fixedPart), state));
  const mover = state.turnNum % players.length;
  if (signatures.length < players.length) {
    if (signatures.length === 0) return {};
    await requireSigner(hash, signatures.at(-1), players[mover]);
    return { [mover]: signatures.at(-1) };
  }
  const found = {};
  for (const [index, signature] of signatures.entries()) {
    if ((await recover(hash, signature)) === players[index].toLowerCase()) found[index] = signature;
  }
  return found;
}

// ------------------------------------------------------------------------------------------------------------ messages

const VERSION = 1;
const FILE_VERSION = 2;
const MEMBERS = {
  state: ["channelId", "kind", "record", "signers", "version"],
  greeting: ["channelId", "kind", "nextTurn", "sender", "version"],
};

/** JSON with its members sorted, and no spaces. */
const canonical = (message) =>
  JSON.stringify(Object.fromEntries(Object.entries(message).sort(([a], [b]) => (a < b ? -1 : 1))));

/** A state on its way; `signatures` by participant. */
export function encodeMessage(id, state, signatures) {
  const signers = Object.keys(signatures).map(Number).sort();
  const record = encodeRecord(state, signers.map((index) => signatures[index]));
  return canonical({ version: VERSION, kind: "state", channelId: id, record, signers });
}

export const encodeGreeting = (id, sender, nextTurn) =>
  canonical({ version: VERSION, kind: "greeting", channelId: id, sender, nextTurn });

function requireVersion(version, known, refuse) {
  if (!Number.isInteger(version) || version < 1) refuse("its version is missing, or no number from 1 on");
  const whose = version > known ? "this" : "the other";
  refuseIf(version !== known, "UnknownVersion", `version ${version}: ${whose} program must be updated`);
}

/** { kind, channelId, ... }: of a state with `state` and `signatures` by participant. */
export function decodeMessage(text) {
  const refuse = (why) => refuseIf(true, "MalformedBytes", `message: ${why}`);
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    refuse("it is not JSON");
  }
  if (message === null || typeof message !== "object") refuse("it is not a JSON object");
  requireVersion(message.version, VERSION, refuse);
  const members = Object.hasOwn(MEMBERS, message.kind) ? MEMBERS[message.kind] : refuse(`its kind is ${message.kind}`);
  if (Object.keys(message).join() !== members.join() || canonical(message) !== text) refuse("it is not in canonical form");
  if (!/^0x[0-9a-f]{64}$/.test(message.channelId)) refuse("channelId is not a word");
  if (message.kind === "greeting") return message;
  if (!/^0x([0-9a-f]{2})*$/.test(message.record)) refuse("record is not hex");
  const { state, signatures } = decodeRecord(message.record);
  const { signers } = message;
  const rise = signers.every((signer, place) => Number.isInteger(signer) && signer > (signers[place - 1] ?? -1));
  if (!rise || signers.length !== signatures.length) refuse("its signers do not rise, or do not fit the signatures");
  const bySigner = Object.fromEntries(signers.map((signer, place) => [signer, signatures[place]]));
  if (signers.some((signer) => signer >= MAX_PARTICIPANTS)) refuse("no channel has so many participants");
  return { ...message, state, signatures: bySigner };
}

// -------------------------------------------------------------------------------------------------------------- files

const isHex = (length) => (value) => new RegExp(`^0x[0-9a-f]{${2 * length}}$`).test(value);
const isBytes = (value) => /^0x([0-9a-f]{2})*$/.test(value);
const isDecimal = (bits) => (value) =>
  typeof value === "string" && /^(0|[1-9][0-9]{0,77})$/.test(value) && BigInt(value) < 2n ** BigInt(bits);
const isNumber = (bits) => (value) => Number.isInteger(value) && value >= 0 && value < 2 ** bits;
const isList = (of) => (value) => Array.isArray(value) && value.every(of);

/** An object with exactly these members, each as its check wants it. */
const isObject = (members) => (value) =>
  value !== null &&
  typeof value === "object" &&
  Object.keys(value).sort().join() === Object.keys(members).sort().join() &&
  Object.entries(members).every(([name, check]) => check(value[name]));

const isFile = isObject({
  format: () => true,
  chainId: isDecimal(256),
  adjudicator: isHex(20),
  fixedPart: isObject({
    participants: isList(isHex(20)),
    channelNonce: isDecimal(64),
    appDefinition: isHex(20),
    challengeDuration: isNumber(48),
    asset: isHex(20),
    total: isDecimal(256),
  }),
  state: isObject({
    turnNum: isNumber(48),
    isFinal: (value) => typeof value === "boolean",
    appData: isBytes,
    evidence: isBytes,
    outcome: isList(isObject({ asset: isHex(20), destination: isHex(32), amount: isDecimal(256) })),
  }),
  signatures: (value) =>
    value !== null && Object.entries(value).every(([index, each]) => /^[0-7]$/.test(index) && isHex(64)(each)),
});

/** A signed-state file, complete. */
export function decodeFile(text) {
  const refuse = (why) => refuseIf(true, "MalformedBytes", `signed state: ${why}`);
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    refuse("it is not JSON");
  }
  const version = /^forcemove-signed-state\/([1-9][0-9]{0,4})$/.exec(file?.format)?.[1];
  requireVersion(Number(version), FILE_VERSION, refuse);
  if (!isFile(file)) refuse("a member is missing, unknown, or not what it should be");
  try {
    requireValidFixedPart(file.fixedPart);
  } catch (error) {
    refuse(error.message);
  }
  return file;
}

// ------------------------------------------------------------------------------------------------- states and proofs

/** What the adjudicator takes as a channel. */
export function requireValidFixedPart({ participants, challengeDuration, total }) {
  const count = participants.length;
  refuseIf(count < 2 || count > MAX_PARTICIPANTS, "ParticipantCountOutOfRange");
  for (const [index, participant] of participants.entries()) {
    refuseIf(BigInt(participant) === 0n, "ZeroParticipant");
    refuseIf(participants.indexOf(participant) !== index, "DuplicateParticipant");
  }
  refuseIf(challengeDuration < 60 || challengeDuration > 31_536_000, "ChallengeDurationOutOfRange");
  refuseIf(BigInt(total) > MAX_AMOUNT, "TotalTooHigh");
}

/** A state in itself. */
export function requireValidState(domain, fixedPart, id, state) {
  const { outcome, appData, evidence, isFinal } = state;
  refuseIf(outcome.length < 1 || outcome.length > MAX_ALLOCATIONS, "AllocationCountOutOfRange");
  const forbidden = [NOBODY, id.toLowerCase(), pad(domain.adjudicator).toLowerCase()];
  let [previous, assets, total] = [BigInt(outcome[0].asset), 1, 0n];
  for (const { asset, destination, amount } of outcome) {
    if (BigInt(asset) !== previous) {
      refuseIf(BigInt(asset) < previous, "AssetsNotSorted");
      refuseIf(++assets > MAX_ASSETS, "TooManyAssets");
      [previous, total] = [BigInt(asset), 0n];
    }
    refuseIf(forbidden.includes(destination.toLowerCase()), "ForbiddenDestination");
    refuseIf((total += BigInt(amount)) >= WORD, "OutcomeTotalOverflow");
  }
  const [wanted, home] = [BigInt(fixedPart.total), BigInt(fixedPart.asset)];
  refuseIf(wanted !== 0n && (new Map(totals(outcome)).get(home) ?? 0n) !== wanted, "WrongTotal");
  const length = size(appData) + size(evidence);
  refuseIf(length > MAX_APP_DATA, "AppDataTooLong");
  refuseIf(isFinal && length !== 0, "FinalStateWithAppData");
}

/** [asset, total] of each asset, in order. */
function totals(outcome) {
  const found = new Map();
  for (const { asset, amount } of outcome) found.set(BigInt(asset), (found.get(BigInt(asset)) ?? 0n) + BigInt(amount));
  return [...found];
}

function requireSameTotals(from, to) {
  const [before, after] = [totals(from.outcome), totals(to.outcome)];
  for (const [place, [asset, total]] of before.entries()) {
    refuseIf(after[place] === undefined || after[place][0] !== asset, "AssetsChanged");
    refuseIf(after[place][1] !== total, "TotalChanged");
  }
  refuseIf(after.length !== before.length, "AssetsChanged");
}

/** From one good state to the next. `validTransition(from, to)` throws a `Refused` where the app refuses the move, and is
 *  not shown the evidence of `from`; where it takes time, so does this. */
export async function requireValidTransition(count, from, to, validTransition) {
  refuseIf(to.turnNum !== from.turnNum + 1, "TurnNumberNotConsecutive");
  requireSameTotals(from, to);
  const sameOutcome = outcomeHash(from.outcome) === outcomeHash(to.outcome);
  if (to.isFinal) return refuseIf(!sameOutcome, "OutcomeChanged");
  refuseIf(from.isFinal, "FinalStateRequired");
  if (to.turnNum >= 2 * count) return validTransition({ ...from, evidence: "0x" }, to);
  refuseIf(!sameOutcome, "OutcomeChanged");
  return refuseIf(from.appData !== to.appData || from.evidence !== to.evidence, "AppDataChanged");
}

/** Refuses what `checkpoint` would. `proof` is { signatures, states, signedStates }, `status` what stands on chain. */
export async function requireSupported(domain, fixedPart, status, proof, validTransition) {
  const { states } = proof;
  refuseIf(states.length === 0 || states.length > fixedPart.participants.length, "StateCountOutOfRange");
  const { turnNum } = states.at(-1);
  refuseIf(status.isRecorded && turnNum <= status.turnNumRecord, "TurnNumberNotIncreased");
  await requireChain(domain, fixedPart, status, proof, validTransition);
  refuseIf(turnNum > MAX_TURN_RECORD, "TurnNumberTooHigh");
}

async function requireChain(domain, fixedPart, status, proof, validTransition) {
  const { signatures, states, signedStates } = proof;
  const players = fixedPart.participants;
  const id = channelId(domain, fixedPart);
  const fromRecord = signatures.length === states.length - 1 && BigInt(signedStates) === 0n;
  if (fromRecord) requireRecorded(id, status, states[0]);
  else requireValidState(domain, fixedPart, id, states[0]);
  for (const [place, state] of states.slice(1).entries()) {
    requireValidState(domain, fixedPart, id, state);
    await requireValidTransition(players.length, states[place], state, validTransition);
  }
  return fromRecord ? requireSignedByMovers(domain, id, players, proof) : requireSignedInTurn(domain, id, players, proof);
}

export function requireRecorded(id, status, state) {
  const found = fingerprint(stateHash(id, state), outcomeHash(state.outcome));
  refuseIf(found !== status.fingerprint, "FingerprintMismatch");
}

async function requireSignedByMovers(domain, id, players, { signatures, states }) {
  for (const [place, signature] of signatures.entries()) {
    const state = states[place + 1];
    await requireSigner(digest(domain, stateHash(id, state)), signature, players[state.turnNum % players.length]);
  }
}

async function requireSignedInTurn(domain, id, players, { signatures, states, signedStates }) {
  const last = states.length - 1;
  const lastTurn = states[last].turnNum;
  let rest = BigInt(signedStates);
  for (const [index, player] of players.entries()) {
    const signed = Number(rest & 0xffn);
    rest >>= 8n;
    const turnsAgo = (((lastTurn - index) % players.length) + players.length) % players.length;
    refuseIf(signed > last || signed + turnsAgo < last, "SignedStateOutOfRange");
    await requireSigner(digest(domain, stateHash(id, states[signed])), signatures[index], player);
  }
}

/** A proof of the newest of `held`, [{ state, signatures }] with the oldest first, each signed by its mover; it takes the
 *  shortest row in which everybody has signed in time. */
export function buildProof(count, held) {
  const lastTurn = held.at(-1).state.turnNum;
  for (let length = 1; length <= Math.min(count, held.length); length++) {
    const row = held.slice(-length);
    const chosen = [];
    for (let index = 0; index < count; index++) {
      const turnsAgo = (((lastTurn - index) % count) + count) % count;
      const first = Math.max(0, length - 1 - turnsAgo);
      chosen.push(row.findIndex(({ signatures }, place) => place >= first && signatures[index]));
    }
    if (chosen.includes(-1)) continue;
    return {
      states: row.map(({ state }) => state),
      signatures: chosen.map((place, index) => row[place].signatures[index]),
      signedStates: chosen.reduce((sum, place, index) => sum + (BigInt(place) << BigInt(8 * index)), 0n),
    };
  }
  throw new Refused("NotSupported", "somebody's signature is missing");
}
