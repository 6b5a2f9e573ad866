// Checks every golden vector: `node vectors.mjs [FILE]`. Prints how many values of each part were compared; ends with
// status 1 and the name of the first that differs.
import { readFileSync } from "node:fs";

import * as forcemove from "./forcemove.mjs";
import { privateKeyToAccount } from "./packages.mjs";
import * as packed from "./packed.mjs";

const path = process.argv[2] ?? new URL("../../contracts/vectors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(path));
const compared = {};
let part = "";

function check(name, found, expected) {
  compared[part] = (compared[part] ?? 0) + 1;
  const [shown, wanted] = [found, expected].map((value) => JSON.stringify(value));
  if (shown !== wanted) throw new Error(`${part}, ${name}: ${shown} instead of ${wanted}`);
}

/** The name of what is thrown, or null. */
async function verdict(action) {
  try {
    await action();
    return null;
  } catch (error) {
    if (error instanceof forcemove.Refused) return error.name;
    throw error;
  }
}

const accounts = vectors.keys.map(({ privateKey }) => privateKeyToAccount(privateKey));
const sign = async (index, hash) => forcemove.toCompact(await accounts[index].sign({ hash }));

const checks = {
  version: () => check("version", vectors.version, 2),

  keys: () => vectors.keys.forEach(({ address }, index) => check(index, accounts[index].address.toLowerCase(), address)),

  domains: () =>
    vectors.domains.forEach((domain, index) => check(index, forcemove.domainSeparator(domain), domain.separator)),

  channels: () =>
    vectors.channels.forEach(({ domain, fixedPart, channelId, wordKey, lateKey }, index) => {
      const { asset } = fixedPart;
      check(index, forcemove.channelId(vectors.domains[domain], fixedPart), channelId);
      check(`${index} keys`, [forcemove.wordKey(channelId, asset), forcemove.lateKey(channelId, asset)], [wordKey, lateKey]);
    }),

  async noChannels() {
    for (const { fixedPart, error } of vectors.noChannels) {
      check(error, await verdict(() => forcemove.requireValidFixedPart(fixedPart)), error);
    }
  },

  async states() {
    for (const [index, vector] of vectors.states.entries()) {
      const { domain, id } = placeOf(vector);
      await checkState(index, vector, domain, id);
      await checkChallenge(index, vector, domain, id);
    }
  },

  statuses: () =>
    vectors.statuses.forEach(({ word, ...fields }, index) => check(index, forcemove.readStatus(word), fields)),

  holdings: () =>
    vectors.holdings.forEach(({ name, word, lateWord, total, ...expected }) => {
      const { held, ...flags } = forcemove.readHoldings(word, lateWord, total);
      check(name, { held: held.toString(), ...flags }, expected);
    }),

  async signatures() {
    for (const { name, digest, signature, signer, error } of vectors.signatures) {
      check(name, await verdict(() => forcemove.requireSigner(digest, signature, signer)), error);
    }
  },

  async records() {
    for (const { record, state, signatures } of vectors.records.whole) {
      check(record, forcemove.decodeRecord(record).signatures, signatures);
      check(record, ordered(forcemove.decodeRecord(record).state), ordered(state));
      check(record, forcemove.encodeRecord(state, signatures), record);
    }
    for (const { name, record } of vectors.records.refused) {
      check(name, await verdict(() => forcemove.decodeRecord(record)), "MalformedBytes");
    }
  },

  async proofs() {
    for (const vector of vectors.proofs) {
      const { domain, fixedPart } = placeOf(vector);
      const status = forcemove.readStatus(vector.recorded?.status ?? `0x${"00".repeat(32)}`);
      const judge = () => forcemove.requireSupported(domain, fixedPart, status, vector, counting);
      check(vector.name, await verdict(judge), vector.error);
      if (vector.calldata === null) continue;
      check(vector.name, packed.checkpointCall(fixedPart, vector), vector.calldata);
      const read = packed.readCheckpoint(vector.calldata);
      check(vector.name, [read.fixedPart, read.signatures], [fixedPart, vector.signatures]);
      check(vector.name, ordered(read.states.at(-1)), ordered(vector.states.at(-1)));
    }
  },

  calls() {
    for (const call of vectors.calls.whole) {
      const { fixedPart } = vectors.channels[call.channel ?? 0];
      check(call.name, packed.write[call.operation](fixedPart, call), call.calldata);
      if (call.operation !== "respond") continue;
      const { response, signature } = packed.readRespond(call.calldata, call.response.turnNum);
      check(call.name, [ordered(response), signature], [ordered(call.response), call.signature]);
    }
    for (const { name, calldata, error, values } of vectors.calls.refused) check(name, refusal(calldata), [error, values]);
  },

  deployments: () =>
    vectors.deployments.forEach(({ factory, creationCode, address }, index) =>
      check(index, forcemove.deployedAt(factory, creationCode), address),
    ),

  async messages() {
    for (const { channel, message, state, signatures } of vectors.messages.states) {
      const id = vectors.channels[channel].channelId;
      const heard = forcemove.decodeMessage(message);
      check(message, [heard.kind, heard.channelId, heard.signatures], ["state", id, signatures]);
      check(message, ordered(heard.state), ordered(state));
      check(message, forcemove.encodeMessage(id, state, signatures), message);
    }
    for (const { channel, message, sender, nextTurn } of vectors.messages.greetings) {
      const id = vectors.channels[channel].channelId;
      const heard = forcemove.decodeMessage(message);
      check(message, [heard.kind, heard.channelId, heard.sender, heard.nextTurn], ["greeting", id, sender, nextTurn]);
      check(message, forcemove.encodeGreeting(id, sender, nextTurn), message);
    }
    for (const { name, text, error } of vectors.messages.refused) {
      check(name, await verdict(() => forcemove.decodeMessage(text)), error);
    }
  },

  async files() {
    for (const vector of vectors.files.whole) {
      const { domain, fixedPart } = placeOf(vector);
      const shown = forcemove.decodeFile(vector.file);
      check("domain", [shown.chainId, shown.adjudicator], [domain.chainId, domain.adjudicator]);
      check("fixedPart", shown.fixedPart, fixedPart);
      check("state", ordered(shown.state), ordered(vector.state));
      check("signatures", shown.signatures, vector.signatures);
    }
    for (const { name, text, error } of vectors.files.refused) {
      check(name, await verdict(() => forcemove.decodeFile(text)), error);
    }
  },
};

/** Why calldata of a checkpoint means nothing: the name and the values of the error. */
function refusal(calldata) {
  try {
    packed.readCheckpoint(calldata);
    return null;
  } catch (error) {
    if (error instanceof packed.Unreadable) return [error.name, error.values];
    throw error;
  }
}

function placeOf({ channel }) {
  const { domain, fixedPart, channelId } = vectors.channels[channel];
  return { domain: vectors.domains[domain], fixedPart, id: channelId };
}

async function checkState(index, vector, domain, id) {
  const { state } = vector;
  const hash = forcemove.stateHash(id, state);
  check(`${index} outcomeHash`, forcemove.outcomeHash(state.outcome), vector.outcomeHash);
  check(`${index} stateHash`, hash, vector.stateHash);
  check(`${index} digest`, forcemove.digest(domain, hash), vector.digest);
  check(`${index} fingerprint`, forcemove.fingerprint(hash, vector.outcomeHash), vector.fingerprint);
  check(`${index} typedData`, forcemove.stateTypedData(domain, id, state), vector.typedData);
  check(`${index} typedData's digest`, forcemove.typedDataDigest(vector.typedData), vector.digest);
  for (const [signer, expected] of vector.signatures.entries()) {
    check(`${index} signature ${signer}`, await sign(signer, vector.digest), expected);
  }
  check(`${index} longSignature`, forcemove.toLong(vector.signatures[0]), vector.longSignature);
  check(`${index} abiEncoding`, forcemove.encodeState(state), vector.abiEncoding);
  check(`${index} record`, forcemove.encodeRecord(state, vector.signatures), vector.record);
  const decoded = forcemove.decodeRecord(vector.record);
  check(`${index} record's state`, ordered(decoded.state), ordered(state));
  check(`${index} record's signatures`, decoded.signatures, vector.signatures);
}

async function checkChallenge(index, vector, domain, id) {
  const { turnNum } = vector.state;
  const hash = forcemove.challengeHash(id, turnNum, vector.stateHash);
  const message = { channelId: id, turnNum, stateHash: vector.stateHash };
  check(`${index} challengeHash`, hash, vector.challengeHash);
  check(`${index} challengeDigest`, forcemove.digest(domain, hash), vector.challengeDigest);
  check(`${index} challengeTypedData`, forcemove.typedData(domain, "Challenge", message), vector.challengeTypedData);
  check(`${index} its digest`, forcemove.typedDataDigest(vector.challengeTypedData), vector.challengeDigest);
  check(`${index} challengeSignature`, await sign(0, vector.challengeDigest), vector.challengeSignature);
}

const ordered = ({ outcome, appData, evidence, turnNum, isFinal }) => ({ outcome, appData, evidence, turnNum, isFinal });

/** The app of all vectors: one word that counts up by one. What showed that `from` was right must not be shown to it. */
function counting(from, to) {
  if (from.evidence !== "0x") throw new Error("an app was shown the evidence of the state before");
  const [before, after] = [from, to].map(({ appData }) => {
    if (appData.length !== 66) throw new forcemove.Refused("MalformedCount");
    return BigInt(appData);
  });
  if (after !== before + 1n) throw new forcemove.Refused("WrongCount");
}

try {
  for (part of Object.keys(checks)) await checks[part]();
  const unknown = Object.keys(vectors).filter((name) => !(name in checks));
  if (unknown.length) throw new Error(`there are parts that nobody checks: ${unknown}`);
  console.log(JSON.stringify(compared));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
