import { levenshteinDistance } from './levenshtein-distance.ts'

/**
 * 1 minus the distance divided by the length of the longer text; 1 for two empty texts. Takes code points.
 */
export function levenshteinSimilarity(a: Int32Array, b: Int32Array): number {
  const longest = Math.max(a.length, b.length)
  return longest === 0 ? 1 : 1 - levenshteinDistance(a, b) / longest
}
