/** What a text of JSON says, given as a string or in UTF-8; undefined for what is none. For files of our own, whose schema looks next. */
export function parsedOrUndefined(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}
