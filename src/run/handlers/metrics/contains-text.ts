/**
 * Longer needles use a search in linear time: V8's own search optimises only the last 250 characters of a
 * needle, and takes minutes for some larger ones.
 */
const MAX_NATIVE_NEEDLE = 250
const MUCH_WORK = 10_000_000

/** Whether `text` contains `needle`, in time linear in both. */
export function containsText(text: string, needle: string): boolean {
  if (needle.length <= MAX_NATIVE_NEEDLE || needle.length * text.length <= MUCH_WORK)
    return text.includes(needle)
  return needle.length <= text.length && containsLong(text, needle)
}

/** The Knuth-Morris-Pratt search. */
function containsLong(text: string, needle: string): boolean {
  const borders = bordersOf(needle)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    matched = extended(needle, borders, matched, text.charCodeAt(at))
    if (matched === needle.length) return true
  }
  return false
}

/** For each prefix of the needle by length, the length of its longest border. */
function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length + 1)
  for (let at = 1; at < needle.length; at++) {
    borders[at + 1] = extended(needle, borders, borders[at] ?? 0, needle.charCodeAt(at))
  }
  return borders
}

/** The length of the match after a character, given the length before it. */
function extended(needle: string, borders: Int32Array, matched: number, char: number): number {
  let length = matched
  while (length > 0 && needle.charCodeAt(length) !== char) length = borders[length] ?? 0
  return needle.charCodeAt(length) === char ? length + 1 : length
}
