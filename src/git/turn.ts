let turn = 0
let ending = false

/**
 * A number that stays the same while the requests that came in together are worked on, and is another one afterwards. What
 * was seen on the disk in this turn was seen after all of these requests had arrived, so they may share it (design
 * section 4). A turn ends with the event loop's current round: before any answer of it reaches a client that could ask again.
 */
export function currentTurn(): number {
  if (!ending) {
    ending = true
    setImmediate(endTurn)
  }
  return turn
}

function endTurn(): void {
  ending = false
  turn++
}
