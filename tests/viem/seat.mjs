// One participant's seat: a throw-away key that signs, a wallet that pays in, sends and is paid, and the states that are
// known. From contracts/README.md alone.
import { Chain } from "./chain.mjs";
import * as forcemove from "./forcemove.mjs";
import { privateKeyToAccount } from "./packages.mjs";
import * as packed from "./packed.mjs";

const { Refused } = forcemove;
const PUSH = 7; // units of gas for each payment
const ETHER = `0x${"00".repeat(20)}`;
const same = (a, b) => forcemove.encodeState(a) === forcemove.encodeState(b);

export class Seat {
  /** `say` sends an object to the counterparty's side. */
  static async take(task, say) {
    return new Seat(task, await Chain.open(task), say);
  }

  constructor(task, chain, say) {
    Object.assign(this, { chain, say, index: task.index, fixedPart: task.fixedPart, opening: task.opening });
    forcemove.requireValidFixedPart(task.fixedPart);
    this.count = task.fixedPart.participants.length;
    this.domain = { chainId: task.chainId, adjudicator: task.adjudicator };
    this.id = forcemove.channelId(this.domain, this.fixedPart);
    this.account = privateKeyToAccount(task.signingKey);
    this.fromBlock = task.fromBlock;
    this.held = []; // [{ state, signatures }], the newest last
    this.logs = [];
    this.recorded = null;
    this.deposited = false;
    this.concluded = false;
  }

  get newest() {
    return this.held.at(-1);
  }

  get nextTurn() {
    return this.held.length ? this.newest.state.turnNum + 1 : 0;
  }

  get isOurTurn() {
    return this.nextTurn % this.count === this.index;
  }

  get isClosed() {
    return this.logs.some(({ name }) => name === "Closed");
  }

  mover(turnNum) {
    return turnNum % this.count;
  }

  // ------------------------------------------------------------------------------------------------------- messages

  /** A message from a counterparty: the next state, or more signatures on the newest. */
  async receive(text) {
    const message = forcemove.decodeMessage(text);
    if (message.channelId !== this.id) throw new Refused("MalformedBytes", "message: it is of another channel");
    if (message.kind === "greeting") return this.answerGreeting(message);
    const { state, signatures } = message;
    if (state.turnNum > this.nextTurn) return this.say({ message: this.greeting() });
    if (state.turnNum === this.nextTurn) await this.requireNext(state);
    else if (!this.held.length || !same(state, this.newest.state)) return undefined;
    const hash = this.digestOf(state);
    if (!(this.mover(state.turnNum) in signatures)) throw new Refused("SignatureMissing", "the mover has not signed");
    for (const [signer, signature] of Object.entries(signatures)) {
      await forcemove.requireSigner(hash, signature, this.fixedPart.participants[signer] ?? ETHER);
    }
    return this.keep(state, signatures);
  }

  greeting() {
    return forcemove.encodeGreeting(this.id, this.index, this.nextTurn);
  }

  answerGreeting({ nextTurn }) {
    if (nextTurn > this.nextTurn) return this.say({ message: this.greeting() });
    for (const { state, signatures } of this.held) {
      const lacks = state.turnNum >= nextTurn || (state.isFinal && state.turnNum + 1 === nextTurn);
      if (lacks && this.index in signatures) this.say({ message: forcemove.encodeMessage(this.id, state, signatures) });
    }
    return undefined;
  }

  async requireNext(state) {
    if (state.turnNum < this.count) {
      if (!same(state, this.setupState(state.turnNum))) throw new Refused("OpeningMismatch", "this was not agreed");
      return;
    }
    forcemove.requireValidState(this.domain, this.fixedPart, this.id, state);
    const asked = (from, to) => this.chain.requireMove(this.id, from, to, this.count);
    await forcemove.requireValidTransition(this.count, this.newest.state, state, asked);
  }

  keep(state, signatures) {
    if (this.held.length && this.newest.state.turnNum === state.turnNum) {
      this.newest.signatures = { ...this.newest.signatures, ...signatures };
    } else {
      this.held = [...this.held.slice(-this.count), { state, signatures }];
    }
  }

  // -------------------------------------------------------------------------------------------------------- signing

  hashOf(state) {
    return forcemove.stateHash(this.id, state);
  }

  digestOf(state) {
    return forcemove.digest(this.domain, this.hashOf(state));
  }

  setupState(turnNum) {
    return { ...this.opening, turnNum, isFinal: false };
  }

  async signTyped(primaryType, message) {
    const { EIP712Domain: _, ...types } = forcemove.EIP712.types;
    const domain = {
      ...forcemove.EIP712.domain,
      chainId: BigInt(this.domain.chainId),
      verifyingContract: this.domain.adjudicator,
    };
    return forcemove.toCompact(await this.account.signTypedData({ domain, types, primaryType, message }));
  }

  signature(state) {
    return this.signTyped("State", { channelId: this.id, ...state });
  }

  /** Signs a state that is ours to make, or a final one of somebody else's, without sending it. */
  async sign(state) {
    const signatures = { [this.index]: await this.signature(state) };
    if (state.turnNum === this.nextTurn) await this.requireNext(state);
    this.keep(state, signatures);
    return this.newest;
  }

  async signAndSay(state) {
    const signed = await this.sign(state);
    this.say({ message: forcemove.encodeMessage(this.id, signed.state, signed.signatures) });
  }

  finalState() {
    const { outcome } = this.newest.state;
    return { outcome, appData: "0x", evidence: "0x", turnNum: this.nextTurn, isFinal: true };
  }

  // ------------------------------------------------------------------------------------------------------- the chain

  /** Sends a transaction and tells the other side that there is something to see. */
  async send(functionName, args, value) {
    await this.chain.send(functionName, args, value);
    this.say({ note: functionName });
    await this.look();
  }

  /** Reads the channel's logs anew, and takes over what was recorded. */
  async look() {
    const found = await this.chain.logs(this.id, this.fromBlock);
    const fresh = found.slice(this.logs.length);
    this.logs = found;
    for (const log of fresh.filter(({ state }) => state)) await this.adopt(log);
    return fresh.length > 0;
  }

  async adopt({ name, state, signatures }) {
    const ours = await forcemove.signaturesOfLogged(this.domain, this.fixedPart, { state, signatures });
    const status = await this.chain.status(this.id, this.fixedPart.asset);
    if (status.turnNumRecord === state.turnNum) forcemove.requireRecorded(this.id, status, state);
    this.recorded = { state, isChallenged: name === "ChallengeRegistered" };
    if (state.turnNum > this.nextTurn) this.held = [];
    if (state.turnNum >= this.nextTurn || !this.held.length) this.keep(state, ours);
    else if (same(this.newest.state, state)) this.keep(state, ours);
  }

  /** Its share of the deposits, once the shares before it are there. */
  async deposit() {
    const { outcome } = this.opening;
    const expectedHeld = outcome.slice(0, this.index).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    if (this.deposited || (await this.chain.held(this.id, this.fixedPart)) < expectedHeld) return false;
    const amount = BigInt(outcome[this.index].amount);
    await this.send("deposit", [this.id, ETHER, expectedHeld, amount], amount);
    return (this.deposited = true);
  }

  async isFunded() {
    const total = this.opening.outcome.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const { held } = await this.chain.storedHoldings(this.id, this.fixedPart);
    return held >= total && !(await this.chain.status(this.id, this.fixedPart.asset)).isRecorded;
  }

  /** With the newest state that is supported, sent by the wallet and signed as a challenge by the throw-away key. */
  async challenge(proof = forcemove.buildProof(this.count, this.held)) {
    const { turnNum } = proof.states.at(-1);
    const stateHash = this.hashOf(proof.states.at(-1));
    const signed = await this.signTyped("Challenge", { channelId: this.id, turnNum, stateHash });
    await this.send("challenge", packed.challengeCall(this.fixedPart, proof, signed));
  }

  checkpoint(proof) {
    return this.send("checkpoint", packed.checkpointCall(this.fixedPart, proof));
  }

  /** From the recorded state on, as far as movers have signed. */
  proofFromRecord() {
    const { turnNum } = this.recorded.state;
    const later = this.held.filter(({ state }) => state.turnNum > turnNum);
    const signatures = later.map(({ state, signatures: all }) => all[this.mover(state.turnNum)]);
    return { states: [this.recorded.state, ...later.map(({ state }) => state)], signatures, signedStates: 0n };
  }

  respond() {
    const { state, signatures } = this.newest;
    const signature = signatures[this.mover(state.turnNum)];
    return this.send("respond", packed.respondCall(this.fixedPart, this.recorded.state, state, signature));
  }

  async conclude() {
    const { state, signatures } = this.newest;
    const all = this.fixedPart.participants.map((_, index) => signatures[index]);
    this.concluded = true;
    await this.send("conclude", packed.concludeCall(this.fixedPart, state.outcome, state.turnNum, all, PUSH));
  }

  async transfer() {
    const { state } = this.recorded;
    const { asset } = this.fixedPart;
    await this.send("transfer", packed.transferCall(this.id, asset, this.hashOf(state), state.outcome, [], PUSH));
  }
}
