// The adjudicator and an app on a chain, by their compiled ABIs and packed calldata: transactions, views, logs. From
// contracts/README.md alone.
import { readFileSync } from "node:fs";

import {
  Refused,
  asArgument,
  deployedAt,
  lateKey,
  readHoldings,
  readStatus,
  wordKey,
} from "./forcemove.mjs";
import { privateKeyToAccount, viem } from "./packages.mjs";
import { Unreadable, readCheckpoint, readRespond } from "./packed.mjs";

const artifact = (name) => JSON.parse(readFileSync(new URL(`../../contracts/artifacts/${name}.json`, import.meta.url)));
const ADJUDICATOR = artifact("Adjudicator");
const WORD = 32;

export class Chain {
  /** Of the task: `rpc`, `chainId`, `factory` (null where a test has deployed otherwise), `adjudicator`, `app` (its name),
   *  `appAbi`, `fixedPart`, `walletKey`. */
  static async open(task) {
    const chain = new Chain(task);
    const found = await chain.reader.getChainId();
    if (String(found) !== task.chainId) {
      throw new Refused("WrongChain", `this is chain ${found}, and the channel is of chain ${task.chainId}`);
    }
    if (task.factory !== null) {
      await chain.requireGenuine(task.factory, "Adjudicator", task.adjudicator);
      await chain.requireGenuine(task.factory, task.app, task.fixedPart.appDefinition);
    }
    return chain;
  }

  constructor({ rpc, chainId, adjudicator, appAbi, fixedPart, walletKey }) {
    const transport = viem.http(rpc);
    const place = { id: Number(chainId), name: "the test's chain", nativeCurrency: { name: "", symbol: "", decimals: 18 } };
    const chain = { ...place, rpcUrls: { default: { http: [rpc] } } };
    this.reader = viem.createPublicClient({ chain, transport, pollingInterval: 20 });
    this.wallet = viem.createWalletClient({ chain, transport, account: privateKeyToAccount(walletKey) });
    this.address = adjudicator;
    this.appAbi = appAbi;
    this.appAddress = fixedPart.appDefinition;
    // An app's errors come through the adjudicator as they are.
    this.abi = [...ADJUDICATOR.abi, ...appAbi.filter(({ type }) => type === "error")];
    this.spent = 0n;
  }

  /** Refuses what is not one of the project's contracts, deployed by this factory. */
  async requireGenuine(factory, name, address) {
    const expected = deployedAt(factory, artifact(name).bytecode);
    if (address.toLowerCase() !== expected) {
      throw new Refused("NotGenuine", `${address} is not a genuine ${name}, which stands at ${expected}`);
    }
    if (!(await this.reader.getCode({ address }))) throw new Refused("NoContract", `there is no ${name} at ${address}`);
  }

  /** Sends a transaction from the wallet and waits until it is mined; what it reverts with is thrown. Packed calldata is
   *  that of a function without arguments, with something behind it. */
  async send(functionName, args, value = 0n) {
    const packed = typeof args === "string" ? { args: [], dataSuffix: viem.slice(args, 4) } : { args };
    const call = { address: this.address, abi: this.abi, functionName, ...packed, value };
    try {
      const { request } = await this.reader.simulateContract({ ...call, account: this.wallet.account });
      const hash = await this.wallet.writeContract(request);
      const receipt = await this.reader.waitForTransactionReceipt({ hash });
      this.spent += receipt.gasUsed * receipt.effectiveGasPrice + value;
    } catch (error) {
      throw refusal(error);
    }
  }

  read(functionName, args = []) {
    return this.reader.readContract({ address: this.address, abi: this.abi, functionName, args });
  }

  /** What is recorded of a channel, by its home asset. */
  async status(id, asset) {
    return readStatus(viem.numberToHex(await this.read("statusOf", [id, asset]), { size: WORD }));
  }

  /** What a channel holds of its home asset. */
  async held(id, { asset, total }) {
    const [held] = await this.read("holdingsOf", [id, asset, BigInt(total)]);
    return held;
  }

  /** The same by what is in storage: { held, payoutBegun, closed }. */
  async storedHoldings(id, { asset, total }) {
    const words = await this.read("wordsOf", [[wordKey(id, asset), lateKey(id, asset)]]);
    const [own, late] = words.map((each) => viem.numberToHex(each, { size: WORD }));
    return readHoldings(own, late, total);
  }

  /** Asks the app itself whether a move is legal; the evidence of `from` is not shown to it. */
  async requireMove(id, from, to, count) {
    const call = { address: this.appAddress, abi: this.appAbi, functionName: "validTransition" };
    try {
      const args = [id, asArgument(from), asArgument(to), BigInt(count)];
      const legal = await this.reader.readContract({ ...call, args });
      if (!legal) throw new Refused("TransitionRefused");
    } catch (error) {
      throw refusal(error);
    }
  }

  /** The channel's logs from a block on, oldest first: { name, ...values }, with what was recorded. */
  async logs(id, fromBlock) {
    const found = await this.reader.request({
      method: "eth_getLogs",
      params: [{ address: this.address, topics: [null, id], fromBlock: viem.numberToHex(fromBlock), toBlock: "latest" }],
    });
    return found.map((log) => readLog(log));
  }
}

/** A log as the node gives it. */
export function readLog({ topics, data }) {
  let eventName, args;
  try {
    ({ eventName, args } = viem.decodeEventLog({ abi: ADJUDICATOR.abi, topics, data }));
  } catch (error) {
    throw new Refused("MalformedBytes", `log: ${error.shortMessage ?? error.message}`);
  }
  const { arguments: packed, ...values } = args;
  return { name: eventName, ...values, ...(packed === undefined ? {} : readRecorded(eventName, packed)) };
}

/** The recorded state and the signatures that came with it. */
function readRecorded(eventName, packed) {
  const asCalldata = (args) => viem.concat(["0x00000000", args]);
  try {
    if (eventName === "Responded") {
      const turnNum = Number(viem.slice(packed, 0, 6));
      const { response, signature } = readRespond(asCalldata(viem.slice(packed, 6)), turnNum);
      return { state: response, signatures: [signature] };
    }
    const { states, signatures } = readCheckpoint(asCalldata(packed), true);
    return { state: states.at(-1), signatures };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Refused("MalformedBytes", `log: ${error.message}`);
  }
}

/** The custom error in a failed call, by its name; anything else as it is. */
function refusal(error) {
  const reverted = error instanceof viem.BaseError && error.walk((each) => each.data?.errorName !== undefined);
  if (!reverted) return error;
  const { errorName, args } = reverted.data;
  return new Refused(errorName, `${errorName}(${(args ?? []).join(", ")})`);
}
