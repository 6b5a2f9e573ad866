#!/usr/bin/env node
// A node for tests under a hardfork that is named, Amsterdam among them, which anvil and eth-tester do not have yet. Takes
// anvil's options and speaks its language, as far as `forcemove.chain` does, so that `AnvilChain` starts it:
//     forks.mjs --host 127.0.0.1 --port 0 --accounts 1 --hardfork amsterdam [--chain-id N]
// Transactions run in `@ethereumjs/vm` (contracts/node_modules), a block for each. Blocks are not checked: their headers
// have what a transaction and our readers look at.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";

const require = createRequire(new URL("../../contracts/package.json", import.meta.url));
const { createBlock } = require("@ethereumjs/block");
const { createCustomCommon, Mainnet } = require("@ethereumjs/common");
const { createFeeMarket1559Tx, createTxFromRLP } = require("@ethereumjs/tx");
const { Account, bytesToHex, createAddressFromString, hexToBytes } = require("@ethereumjs/util");
const { createVM, runTx } = require("@ethereumjs/vm");

const { host, port, hardfork, ...options } = parseArgs({
  options: {
    host: { type: "string" },
    port: { type: "string" },
    accounts: { type: "string" },
    hardfork: { type: "string" },
    "chain-id": { type: "string", default: "31337" },
  },
}).values;

const GWEI = 10n ** 9n;
const BLOCK_GAS = 100_000_000n;
const CALL_GAS = 2n ** 24n; // of a call that names none: what any fork allows
const REVERTED = 3; // the code that geth gives a call that reverts
const hex = (number) => `0x${number.toString(16)}`;

class Refused extends Error {
  constructor(message, code = -32000, data = undefined) {
    super(message);
    Object.assign(this, { code, data });
  }
}

const common = createCustomCommon({ chainId: Number(options["chain-id"]) }, Mainnet, { hardfork });
const vm = await createVM({ common });
const state = vm.stateManager;
const blocks = []; // each with its header, and the root of the state after it
const receipts = new Map(); // by the transaction's hash
let nextTime = null;

const head = () => blocks.at(-1);
const addressOf = (text) => createAddressFromString(text);

function header(parent, time) {
  const base = { gasLimit: BLOCK_GAS, baseFeePerGas: GWEI, timestamp: time, number: 0n };
  return parent ? { ...base, number: parent.header.number + 1n, parentHash: parent.hash } : base;
}

const pendingTime = () => nextTime ?? head().time + 1n;
const pendingBlock = () => createBlock({ header: header(head(), pendingTime()) }, { common });

/** Puts a block after the newest one, with the state as it is now. */
async function mine(block) {
  const root = await state.getStateRoot();
  const { number, timestamp: time, parentHash } = block.header;
  const sealed = createBlock({ header: { ...header(head(), time), stateRoot: root } }, { common });
  blocks.push({ header: sealed.header, hash: sealed.hash(), parent: parentHash, root, time, number });
  nextTime = null;
  return head();
}

/** Does something in the state after a block, by its number or tag, which stays as it is. */
async function inState(tag, action) {
  const named = typeof tag !== "string" || !tag.startsWith("0x");
  const block = named ? head() : blocks[Number(tag)];
  if (block === undefined) throw new Refused(`there is no block ${tag}`);
  if (block !== head()) await state.setStateRoot(block.root);
  try {
    return await action(block);
  } finally {
    if (block !== head()) await state.setStateRoot(head().root);
  }
}

/** Runs a call as a transaction that is paid for by nobody, and undoes it. */
async function execute(request, tag, gas) {
  return inState(tag, async () => {
    const { to, data = request.input, value = "0x0" } = request;
    const fields = { to, data, value, gasLimit: gas, maxFeePerGas: GWEI, chainId: common.chainId() };
    const transaction = createFeeMarket1559Tx(fields, { common, freeze: false });
    transaction.getSenderAddress = () => addressOf(request.from ?? `0x${"00".repeat(20)}`);
    await state.checkpoint();
    try {
      return await runTx(vm, { tx: transaction, block: pendingBlock(), skipNonce: true, skipBalance: true });
    } catch (error) {
      throw new Refused(error.message);
    } finally {
      await state.revert();
    }
  });
}

function requireSuccess({ execResult }) {
  const error = execResult.exceptionError?.error;
  if (error === "revert") throw new Refused("execution reverted", REVERTED, bytesToHex(execResult.returnValue));
  if (error !== undefined) throw new Refused(`execution failed: ${error}`);
}

/** The least limit with which a transaction succeeds, to within a sixteenth. */
async function estimate(request, tag) {
  let most = BigInt(request.gas ?? CALL_GAS);
  const found = await execute(request, tag, most);
  requireSuccess(found);
  let least = found.totalGasSpent - 1n;
  while (most - least > most / 16n) {
    const tried = most > 2n * least ? least + least / 32n + 1n : (most + least) / 2n;
    const fails = await execute(request, tag, tried).then((done) => done.execResult.exceptionError, () => true);
    if (fails) least = tried;
    else most = tried;
  }
  return hex(most);
}

/** The one call of the one block. */
async function simulate({ blockStateCalls: [{ calls: [request] }] }, tag) {
  const { execResult, totalGasSpent } = await execute(request, tag, CALL_GAS);
  const returnData = bytesToHex(execResult.returnValue);
  const status = execResult.exceptionError ? "0x0" : "0x1";
  return [{ calls: [{ status, gasUsed: hex(totalGasSpent), returnData, error: { data: returnData } }] }];
}

async function send(raw) {
  const transaction = createTxFromRLP(hexToBytes(raw), { common });
  const [hash, sender, block] = [bytesToHex(transaction.hash()), transaction.getSenderAddress(), pendingBlock()];
  const done = await runTx(vm, { tx: transaction, block }).catch((error) => {
    throw new Refused(/enough funds/.test(error.message) ? `insufficient funds: ${error.message}` : error.message);
  });
  const mined = await mine(block);
  const place = { blockNumber: hex(mined.number), blockHash: bytesToHex(mined.hash), transactionHash: hash };
  const created = done.createdAddress && !transaction.to ? done.createdAddress.toString() : null;
  receipts.set(hash, {
    ...place,
    from: sender.toString(),
    gasUsed: hex(done.totalGasSpent),
    effectiveGasPrice: hex(done.amountSpent / done.totalGasSpent),
    contractAddress: created,
    status: done.execResult.exceptionError ? "0x0" : "0x1",
    logs: done.receipt.logs.map(([address, topics, data], index) => ({
      address: bytesToHex(address),
      topics: topics.map(bytesToHex),
      data: bytesToHex(data),
      logIndex: hex(index),
      ...place,
    })),
  });
  return hash;
}

function blockByTag(tag) {
  const isPending = tag === "pending";
  const block = tag.startsWith("0x") ? blocks[Number(tag)] : head();
  return block === undefined ? null : {
    number: hex(block.number + (isPending ? 1n : 0n)),
    hash: isPending ? null : bytesToHex(block.hash),
    parentHash: bytesToHex(isPending ? block.hash : block.parent),
    timestamp: hex(isPending ? pendingTime() : block.time),
    baseFeePerGas: hex(GWEI),
    gasLimit: hex(BLOCK_GAS),
  };
}

function logs({ address, topics = [], fromBlock, toBlock }) {
  const number = (tag) => (tag?.startsWith("0x") ? Number(tag) : blocks.length - 1);
  const [wanted, first, last] = [[address].flat(), number(fromBlock), number(toBlock)];
  const fits = (asked, topic) => asked === null || [asked].flat().includes(topic);
  return [...receipts.values()].flatMap((each) => each.logs).filter(
    (log) =>
      wanted.includes(log.address) &&
      first <= Number(log.blockNumber) && Number(log.blockNumber) <= last &&
      topics.every((asked, place) => fits(asked, log.topics[place])),
  );
}

const METHODS = {
  eth_chainId: () => hex(common.chainId()),
  eth_blockNumber: () => hex(head().number),
  eth_getBlockByNumber: blockByTag,
  eth_maxPriorityFeePerGas: () => "0x0",
  eth_getBalance: (of, tag) => inState(tag, async () => hex((await state.getAccount(addressOf(of)))?.balance ?? 0n)),
  eth_getTransactionCount: (of, tag) =>
    inState(tag, async () => hex((await state.getAccount(addressOf(of)))?.nonce ?? 0n)),
  eth_getCode: (of, tag) => inState(tag, async () => bytesToHex(await state.getCode(addressOf(of)))),
  eth_call: async (request, tag) => {
    const done = await execute(request, tag, BigInt(request.gas ?? CALL_GAS));
    requireSuccess(done);
    return bytesToHex(done.execResult.returnValue);
  },
  eth_estimateGas: estimate,
  eth_simulateV1: simulate,
  eth_sendRawTransaction: send,
  eth_getTransactionReceipt: (hash) => receipts.get(hash) ?? null,
  eth_getTransactionByHash: (hash) => receipts.get(hash) ?? null,
  eth_getLogs: logs,
  evm_setNextBlockTimestamp: (time) => ((nextTime = BigInt(time)), null),
  evm_mine: async () => (await mine(pendingBlock()), null),
  anvil_setBalance: async (of, balance) => {
    const account = (await state.getAccount(addressOf(of))) ?? new Account();
    account.balance = BigInt(balance);
    await state.putAccount(addressOf(of), account);
    await mine(pendingBlock());
  },
};

async function answer({ id, method, params }) {
  try {
    if (!(method in METHODS)) throw new Refused(`there is no method ${method}`, -32601);
    return { jsonrpc: "2.0", id, result: (await METHODS[method](...params)) ?? null };
  } catch ({ code = -32603, message, data }) {
    return { jsonrpc: "2.0", id, error: { code, message, data } };
  }
}

// One request after the other: there is one state.
let busy = mine(createBlock({ header: header(null, BigInt(Math.floor(Date.now() / 1000))) }, { common }));
const server = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const asked = JSON.parse(Buffer.concat(pieces).toString());
  busy = busy.then(async () => {
    const answers = [];
    for (const each of [asked].flat()) answers.push(await answer(each));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
  });
});
server.listen(Number(port), host, () => console.log(`Listening on ${host}:${server.address().port}`));
