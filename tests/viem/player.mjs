// Plays one seat of a channel against participants on the other end of stdin and stdout. One JSON object a line, both ways:
// first the task; then { message } between participants, { note } where there is something new on the chain; at the end
// { done }, or { refused, message } where something is not as it must be.
import { createInterface } from "node:readline";

import { readLog } from "./chain.mjs";
import { Refused, encodeMessage } from "./forcemove.mjs";
import { Seat } from "./seat.mjs";
import { isOver, move } from "./tic_tac_toe.mjs";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function hear() {
  const { value, done } = await lines.next();
  if (done) throw new Error("the other side has gone");
  return JSON.parse(value);
}

const say = (object) => process.stdout.write(`${JSON.stringify(object)}\n`);

/** Waits for a line, and takes it in. */
async function listen(seat) {
  const { message } = await hear();
  if (message !== undefined) await seat.receive(message);
  await seat.look();
}

/** The setup, from the first prefund state to the last postfund state. */
async function setUp(seat) {
  while (seat.nextTurn < 2 * seat.count) {
    const isAgreed = seat.nextTurn >= seat.count;
    if (isAgreed && !seat.deposited && (await seat.deposit())) continue;
    if (seat.isOurTurn && (!isAgreed || (await seat.isFunded()))) await seat.signAndSay(seat.setupState(seat.nextTurn));
    else await listen(seat);
  }
}

/** Countersigns a final state, concludes its own, and waits for the end. */
async function finish(seat) {
  while (!seat.isClosed) {
    const { state, signatures } = seat.newest;
    const isAllSigned = Object.keys(signatures).length === seat.count;
    if (state.isFinal && !(seat.index in signatures)) await seat.signAndSay(state);
    else if (state.isFinal && isAllSigned && seat.mover(state.turnNum) === seat.index && !seat.concluded) {
      await seat.conclude();
    } else await listen(seat);
  }
}

async function playOn(seat, { until }) {
  while (!seat.newest.state.isFinal && !until(seat)) {
    if (seat.isOurTurn) await seat.signAndSay(move(seat.newest.state));
    else await listen(seat);
  }
}

async function waitFor(seat, event, count = 1) {
  const seen = () => seat.logs.filter(({ name }) => name === event).length;
  while (seen() < count) await listen(seat);
}

const report = (seat) => ({
  done: seat.logs.map(({ name }) => name),
  turn: seat.nextTurn - 1,
  spent: seat.chain.spent.toString(),
});

// ---------------------------------------------------------------------------------------------------------- scenarios

const scenarios = {
  /** A round, its end, and the money. */
  async play(seat) {
    await setUp(seat);
    await playOn(seat, { until: ({ newest, isOurTurn }) => isOurTurn && newest.state.turnNum >= 4 && isOver(newest.state) });
    if (!seat.newest.state.isFinal) await seat.signAndSay(seat.finalState());
    await finish(seat);
  },

  /** Challenges who is silent, and is silent itself: answers one challenge from the record, another with a response. */
  async dispute(seat) {
    await setUp(seat);
    await playOn(seat, { until: ({ newest }) => newest.state.turnNum === 6 });
    await seat.challenge();
    await waitFor(seat, "Responded");

    say({ note: "silent" });
    await waitFor(seat, "ChallengeRegistered", 2);
    await seat.sign(move(seat.newest.state));
    await seat.checkpoint(seat.proofFromRecord());
    await playOn(seat, { until: ({ isOurTurn }) => isOurTurn });

    say({ note: "silent" });
    await waitFor(seat, "ChallengeRegistered", 3);
    await seat.sign(move(seat.newest.state));
    await seat.respond();
    await playOn(seat, { until: ({ isOurTurn }) => isOurTurn });
    if (!seat.newest.state.isFinal) await seat.signAndSay(seat.finalState());
    await finish(seat);
  },

  /** Two others record a state whose predecessor we have never seen: we go on from the log alone. */
  async hidden(seat) {
    await setUp(seat);
    await playCounting(seat, 8);
    await waitFor(seat, "Checkpointed");
    const { state } = seat.recorded;
    await seat.sign(count(state));
    await seat.challenge(seat.proofFromRecord());
    await playCounting(seat, 13);
    await seat.checkpoint(seat.proofFromRecord());
    await seat.sign(count(seat.newest.state));
    await seat.challenge(seat.proofFromRecord());
    say({ note: "time" });
    await hear(); // it is over
    await seat.transfer();
  },

  /** Signs its prefund state as if it were a challenge: what the others make of it is for them to say. */
  async wrongType(seat) {
    const state = seat.setupState(0);
    const stateHash = seat.hashOf(state);
    const signature = await seat.signTyped("Challenge", { channelId: seat.id, turnNum: 0, stateHash });
    say({ message: encodeMessage(seat.id, state, { 0: signature }) });
    await listen(seat);
  },

  /** Takes in one message. */
  listen,

  /** Reads one log as a node would give it. */
  async log() {
    const { log } = await hear();
    readLog(log);
  },
};

const count = (state) => ({
  outcome: state.outcome,
  appData: `0x${(BigInt(state.appData) + 1n).toString(16).padStart(64, "0")}`,
  evidence: "0x",
  turnNum: state.turnNum + 1,
  isFinal: false,
});

async function playCounting(seat, turn) {
  while (seat.newest.state.turnNum < turn) {
    if (seat.isOurTurn) await seat.signAndSay(count(seat.newest.state));
    else await listen(seat);
  }
}

try {
  const task = await hear();
  const seat = await Seat.take(task, say);
  await scenarios[task.scenario](seat);
  say(report(seat));
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  say({ refused: error.name, message: error.message });
}
process.exit();
