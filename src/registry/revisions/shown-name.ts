/** Maximum length of a subject, as git advises, and of a name in it. */
export const LONGEST_SUBJECT = 72
export const LONGEST_NAME = 40

/**
 * A name (a key, a slug) for a subject, in at most `room` characters, at least four. A longer name, or one
 * that is not printable on one line, is quoted as JSON and truncated, so that a name can neither add a line
 * to the message nor reverse it.
 */
export function shownName(name: string, room = LONGEST_NAME): string {
  if (name.length <= room && isPlain(name)) return name
  let quoted = ''
  for (const character of name) {
    const piece = UNPRINTABLE.test(character) ? escaped(character) : (QUOTED[character] ?? character)
    if (quoted.length + piece.length + '""…'.length > room) return `"${quoted}…"`
    quoted += piece
  }
  return `"${quoted}"`
}

/** A place in a document for a subject, such as `parameters.temperature`: as many of its last keys as fit. */
export function shownPlace(place: readonly string[], room = LONGEST_NAME): string {
  const last = place.length - 1
  let shown = shownName(place[last] ?? '', Math.min(room, LONGEST_NAME))
  for (let at = last - 1; at >= 0; at--) {
    const longer = `${shownName(place[at] ?? '')}.${shown}`
    const dots = at === 0 ? 0 : ELLIPSIS.length
    if (longer.length + dots > room)
      return shown.length + ELLIPSIS.length > room ? shown : `${ELLIPSIS}${shown}`
    shown = longer
  }
  return shown
}

const ELLIPSIS = '….'
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u
const QUOTED: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\' }

function isPlain(name: string): boolean {
  return name !== '' && name.trim() === name && !name.includes('"') && !UNPRINTABLE.test(name)
}

/** Escapes as JSON does: by UTF-16 units. */
function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('')
}
