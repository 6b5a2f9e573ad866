// Moves of tic-tac-toe, from contracts/README.md alone.
import { viem } from "./packages.mjs";

const [X_PLAYING, O_PLAYING, VICTORY, DRAW, PLAY_AGAIN_ME_FIRST, PLAY_AGAIN_ME_SECOND] = [0n, 1n, 2n, 3n, 4n, 5n];
const FULL_BOARD = 0x1ffn;
const LINES = [448n, 56n, 7n, 292n, 146n, 73n, 273n, 84n];
const WORDS = viem.parseAbiParameters("uint256 positionType, uint256 stake, uint256 noughts, uint256 crosses");

const hasLine = (marks) => LINES.some((line) => (marks & line) === line);

/** Our next state after `state`: a mark on the first free cell, or the wish for another round. */
export function move(state) {
  const [type, stake, noughts, crosses] = viem.decodeAbiParameters(WORDS, state.appData);
  const next = (nextType, stakes, marks = [0n, 0n]) => ({
    outcome: pay(state, stakes * stake),
    appData: viem.encodeAbiParameters(WORDS, [nextType, stake, ...marks]),
    evidence: "0x",
    turnNum: state.turnNum + 1,
    isFinal: false,
  });
  if (type === VICTORY || type === DRAW) return next(PLAY_AGAIN_ME_FIRST, 0n);
  if (type === PLAY_AGAIN_ME_FIRST) return next(PLAY_AGAIN_ME_SECOND, 0n);
  const free = FULL_BOARD & ~(noughts | crosses);
  const mark = 1n << BigInt(free.toString(2).length - 1);
  if (type === PLAY_AGAIN_ME_SECOND) return next(X_PLAYING, 1n, [0n, mark]);
  if (type === X_PLAYING) {
    return next(hasLine(noughts | mark) ? VICTORY : O_PLAYING, 2n, [noughts | mark, crosses]);
  }
  const marks = [noughts, crosses | mark];
  if (hasLine(crosses | mark)) return next(VICTORY, 2n, marks);
  return free === mark ? next(DRAW, 1n, marks) : next(X_PLAYING, 2n, marks);
}

export function isOver(state) {
  const [type] = viem.decodeAbiParameters(WORDS, state.appData);
  return type === VICTORY || type === DRAW;
}

function pay(state, amount) {
  const mover = (state.turnNum + 1) % 2;
  return state.outcome.map((each, index) => ({
    ...each,
    amount: (BigInt(each.amount) + (index === mover ? amount : -amount)).toString(),
  }));
}
