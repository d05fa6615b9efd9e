import type { Figure } from './figure.ts'

/** The least and the most of what rounds gave; a single round has no spread. */
export function spreadOf(rounds: readonly number[]): Figure['spread'] {
  if (rounds.length < 2) return undefined
  return { least: Math.min(...rounds), most: Math.max(...rounds) }
}
