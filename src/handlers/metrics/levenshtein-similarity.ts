import { levenshteinDistance } from './levenshtein-distance.ts'

/** 1 less the share of characters of the longer text that have to be edited to make it the other; 1 for two empty ones. Code points. */
export function levenshteinSimilarity(a: Int32Array, b: Int32Array): number {
  const longest = Math.max(a.length, b.length)
  return longest === 0 ? 1 : 1 - levenshteinDistance(a, b) / longest
}
