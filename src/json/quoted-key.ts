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
