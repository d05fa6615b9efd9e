/** What the measuring script asks the thread that measures inside a process, a line of JSON each. */
export type Ask = {
  readonly id: number
} & ({ readonly ask: 'take' | 'firstCalls' } | { readonly ask: 'watch'; readonly places: readonly Place[] })

/** What the thread says: an answer to what was asked. */
export interface Reply {
  readonly id: number
  readonly failure?: string
  /** To `take`: what ran in any thread since the last time. */
  readonly ran?: readonly RanFunction[]
  /** To `firstCalls`: the places that were watched and have run, in the order in which they first did. */
  readonly order?: readonly Place[]
}

/** Where a function is in a script: the script's address, and how many characters are before its begin and its end. */
export interface Place {
  readonly url: string
  readonly start: number
  readonly end: number
}

/** A function that ran, as V8 counts it. Its places are in the script that ran, which is the compiled one. */
export interface RanFunction extends Place {
  /** Empty for a function without one, and for a whole module. */
  readonly name: string
}
