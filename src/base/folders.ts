/**
 * Folders of artifacts as text, `support/tier-1` (interface 18.1): parts joined by `/`, compared without case. The root is the empty text.
 */

const PART = /^[A-Za-z0-9][A-Za-z0-9._ -]{0,63}$/
const MOST_PARTS = 8

/** What is wrong with a folder, as the rest of a sentence; undefined if it is the root or a valid folder. */
export function folderProblem(folder: string): string | undefined {
  if (folder === '') return undefined
  const parts = folder.split('/')
  if (parts.length > MOST_PARTS) return `has ${parts.length} parts; at most ${MOST_PARTS} are allowed`
  const bad = parts.find((part) => !PART.test(part))
  if (bad === undefined) return undefined
  const which = bad === '' ? 'an empty part' : `the part ${JSON.stringify(bad.slice(0, 80))}`
  return (
    `has ${which}; each part between slashes has 1 to 64 of A-Z a-z 0-9 . _ - and space, and begins with a ` +
    'letter or a digit'
  )
}

/** The form in which folders are compared. */
export function foldFolder(folder: string): string {
  return folder.toLowerCase()
}

/** Whether a folder is the other one, or lies below it. Everything lies below the root. */
export function isWithinFolder(folder: string, outer: string): boolean {
  if (outer === '') return true
  const [inside, around] = [foldFolder(folder), foldFolder(outer)]
  return inside === around || inside.startsWith(`${around}/`)
}

/** The folders above a folder, from the top down, and the folder itself; none for the root. */
export function folderLine(folder: string): string[] {
  const parts = folder === '' ? [] : folder.split('/')
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
}

/** Where a folder within `from` is once `from` is moved to `to`. */
export function movedFolder(folder: string, from: string, to: string): string {
  const rest = folder.slice(from.length).replace(/^\//, '')
  return [to, rest].filter((part) => part !== '').join('/')
}

/** How an entry of a key's folders ends that means all below its folder, too. */
const ALL_BELOW = '/**'

/** What is wrong with an entry of a key's folders, as the rest of a sentence: a folder, or a folder and `/**` (interface 18.6). */
export function limitProblem(entry: string): string | undefined {
  const folder = folderOfLimit(entry)
  return folder === '' ? 'names no folder' : folderProblem(folder)
}

/** The folder that an entry names. */
export function folderOfLimit(entry: string): string {
  return entry.endsWith(ALL_BELOW) ? entry.slice(0, -ALL_BELOW.length) : entry
}

/** The entry once its folder, which is `from` or lies below it, is moved to `to`. */
export function movedLimit(entry: string, from: string, to: string): string {
  return movedFolder(folderOfLimit(entry), from, to) + (entry.endsWith(ALL_BELOW) ? ALL_BELOW : '')
}

/** Whether one of these entries takes in what lies in a folder. */
export function isWithinLimits(folder: string, limits: readonly string[]): boolean {
  return limits.some((entry) => {
    const limit = folderOfLimit(entry)
    return limit === entry ? foldFolder(folder) === foldFolder(limit) : isWithinFolder(folder, limit)
  })
}
