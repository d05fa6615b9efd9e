import { invalid } from '../../errors.ts'

const SHAPE = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/
const LONGEST = 200
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i

/** The problem of a slug, undefined if it has none (interface 4.7): git and file systems must accept it as a name. */
export function slugProblem(slug: string): string | undefined {
  if (slug === '') return 'is empty; give at least one character or leave the field out'
  if (slug.length > LONGEST) return `has ${slug.length} characters; at most ${LONGEST} are allowed`
  if (!SHAPE.test(slug)) return 'may hold only A-Z a-z 0-9 _ . - and must start with a letter, a digit or _'
  if (slug.startsWith('__svc__')) return 'starts with the reserved prefix "__svc__"'
  if (slug.includes('..')) return 'must not hold ".."'
  if (/\.$|\.lock$|\.git$/i.test(slug)) return 'must not end with ".", ".lock" or ".git"'
  if (/^head$/i.test(slug)) return 'must not be "HEAD"'
  if (/^[0-9a-f]{40}$/i.test(slug)) return 'must not look like a git object id'
  if (WINDOWS_DEVICE.test(slug)) return 'is a device name on Windows'
  return undefined
}

/** Whether Windows reserves the name for a device, with any extension: no file or folder can have it there. */
export function isDeviceName(name: string): boolean {
  return WINDOWS_DEVICE.test(name)
}

/** Refuses an invalid slug, naming the field. */
export function assertSlug(slug: string, loc: readonly (string | number)[]): void {
  const problem = slugProblem(slug)
  if (problem) throw invalid(loc, `the slug ${JSON.stringify(slug)} ${problem}.`, 'invalid_slug')
}

/** The part before `-<number>` in a slug that looks like a variant's revision (interface 4.12); else undefined. */
export function numberedBase(slug: string): string | undefined {
  return /^(.+)-[0-9]+$/.exec(slug)?.[1]
}

/** The slug for a name, in lower case and ASCII: `groesse-2` for `Größe 2`; undefined if there is none. */
export function slugOfName(name: string): string | undefined {
  const slug = name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[äöüßæœøþðł]/g, (letter) => ASCII[letter] ?? '')
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_OF_NAME)
    .replaceAll(/^-+|-+$/g, '')
  return slugProblem(slug) === undefined ? slug : undefined
}

/** Letters that are not a letter with a mark. */
const ASCII: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'oe',
  þ: 'th',
  ð: 'd',
  ł: 'l',
}
const LONGEST_OF_NAME = 60

/** The form in which slugs are compared: slugs that differ only in case are the same (interface 4.9). */
export function foldSlug(slug: string): string {
  return slug.toLowerCase()
}

/** A record's date in a form that can be compared as text. An invalid one counts as the newest. */
export function claimDate(text: string): string {
  if (PLAIN_DATE.test(text)) return text
  const time = Date.parse(text)
  return Number.isNaN(time) ? NO_DATE : new Date(time).toISOString()
}

const PLAIN_DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/
const NO_DATE = '9999-12-31T23:59:59.999Z'

/**
 * The common part of a slug and all slugs that it may clash with: `bot` for `Bot_2` and `bot_2-1`. The first free slug for `bot` may be
 * `bot_2`, and `bot_2-1` means a revision of a variant `bot_2`.
 */
export function unnumbered(slug: string): string {
  return foldSlug(slug).replace(/(?:[-_][0-9]+)+$/, '')
}
