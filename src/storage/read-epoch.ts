let turn = 0
let ending = false
let hasArrived = false

/**
 * A number that stays the same while the requests that came in together are worked on, and is another one afterwards. What
 * was seen on the disk in this turn was seen after all of these requests had arrived, so they may share it (design
 * section 4). A turn ends with the event loop's current round: before any answer of it reaches a client that could ask again.
 */
export function readEpoch(): number {
  endWithRound()
  return turn
}

/**
 * To be called when a request comes in. The first of those that come in together begins a turn: what timers and background work of
 * this round saw before may be older than what another server has answered the client since.
 */
export function beginReadEpoch(): void {
  if (hasArrived) return
  hasArrived = true
  turn++
  endWithRound()
}

/** To be called when what was seen in this turn may not be so any more: whoever looks next looks afresh. */
export function renewReadEpoch(): void {
  turn++
  endWithRound()
}

function endWithRound(): void {
  if (ending) return
  ending = true
  setImmediate(endTurn)
}

function endTurn(): void {
  ending = false
  hasArrived = false
  turn++
}
