import type { FileType } from '../../../resources/testsets/import/files/file-type.ts'

/**
 * Counts rows while the bytes of a file go by, for those who watch: answers the number of rows that have ended so far. It
 * looks only for what ends a row and checks nothing, so of a bad file the count means nothing.
 */
export function rowCounter(type: FileType): (bytes: Uint8Array) => number {
  return type === 'csv' ? csvRowCounter() : jsonRowCounter(type === 'json' ? 1 : 0)
}

/** A quote that stands for itself is two of them, which leaves the count of quotes even. */
function csvRowCounter(): (bytes: Uint8Array) => number {
  let isQuoted = false
  let isBlank = true
  let lines = 0
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) isQuoted = !isQuoted
      if (byte !== LINE_FEED) isBlank = isBlank && byte === CARRIAGE_RETURN
      else if (!isQuoted) {
        if (!isBlank) lines++
        isBlank = true
      }
    }
    return Math.max(0, lines - 1) // without the header
  }
}

/** A row is an object inside of so many arrays. */
function jsonRowCounter(arrays: number): (bytes: Uint8Array) => number {
  let isText = false
  let isEscaped = false
  let depth = 0
  let rows = 0
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isText = false
      } else if (byte === QUOTE) isText = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth--
        if (byte === CLOSE_BRACE && depth === arrays) rows++
      }
    }
    return rows
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
