import { invalid } from '../../errors.ts'

const SHAPE = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/
const LONGEST = 200
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i

/** What is wrong with a slug (ruling 3.3), or undefined if nothing is: git and file systems must take it as a name. */
export function slugProblem(slug: string): string | undefined {
  if (slug === '') return 'is empty; give at least one character or leave the field out'
  if (slug.length > LONGEST) return `has ${slug.length} characters; at most ${LONGEST} are allowed`
  if (!SHAPE.test(slug)) return 'may hold only A-Z a-z 0-9 _ . - and must start with a letter, a digit or _'
  if (slug.startsWith('__svc__')) return 'starts with the reserved prefix "__svc__"'
  if (slug.includes('..')) return 'must not hold ".."'
  if (/\.$|\.lock$|\.git$/i.test(slug)) return 'must not end with ".", ".lock" or ".git"'
  if (/^head$/i.test(slug)) return 'must not be "HEAD"'
  if (/^[0-9a-f]{40}$/i.test(slug)) return 'must not look like a git object id'
  if (isDeviceName(slug)) return 'is a device name on Windows'
  return undefined
}

/** Whether Windows keeps the name for a device, whatever follows after a dot: no file or folder can have it there. */
export function isDeviceName(name: string): boolean {
  return WINDOWS_DEVICE.test(name)
}

/** Refuses a slug that may not be, naming the field. */
export function assertSlug(slug: string, loc: readonly (string | number)[]): void {
  const problem = slugProblem(slug)
  if (problem) throw invalid(loc, `the slug ${JSON.stringify(slug)} ${problem}.`, 'invalid_slug')
}

/** What stands before `-<number>` in a slug that reads as a variant's revision (ruling 3.4); undefined in another. */
export function numberedBase(slug: string): string | undefined {
  return /^(.+)-[0-9]+$/.exec(slug)?.[1]
}

/** How slugs are compared: two that differ in case only are the same slug (ruling 3.3). */
export function foldSlug(slug: string): string {
  return slug.toLowerCase()
}

/**
 * What a slug, and all those that are compared with it when it is claimed, have in common: `bot` of `Bot-2` and `bot-2-1`. The first free
 * variant slug of `bot` may be `bot-2`, and revisions of a variant `bot-2` read as `bot-2-1`.
 */
export function unnumbered(slug: string): string {
  return foldSlug(slug).replace(/(?:-[0-9]+)+$/, '')
}
