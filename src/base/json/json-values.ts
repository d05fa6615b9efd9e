/** A key as JSON quotes it. Keys come again and again, and spelling one costs more than looking it up. */
export function quotedKey(key: string): string {
  const known = quotedKeys.get(key)
  if (known !== undefined) return known
  const quoted = JSON.stringify(key)
  if (key.length <= LONGEST_KEY && quotedKeys.size < MOST_KEYS) quotedKeys.set(key, quoted)
  return quoted
}

const quotedKeys = new Map<string, string>()
const MOST_KEYS = 2000
const LONGEST_KEY = 64

/** A text, cut off after `max` characters with an ellipsis, and never within a character. */
export function boundedText(text: string, max: number): string {
  if (text.length <= max) return text
  const isWithin = /[\ud800-\udbff]/.test(text.charAt(max - 1))
  return `${text.slice(0, isWithin ? max - 1 : max)}…`
}

/** What a text of JSON says, given as a string or in UTF-8; undefined for what is none. For files of our own, whose schema looks next. */
export function parsedOrUndefined(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}

/** The items by their key, groups and items in the order they come. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
