import { Refusal } from '../../errors.ts'

/**
 * Whether git lets a ref have this full name: `HEAD`, or a name below `refs/` by the rules of git-check-ref-format(1). None of these
 * leads out of the repository's folder or is the name of a lock.
 */
export function isRefName(name: string): boolean {
  if (name === 'HEAD') return true
  // eslint-disable-next-line no-control-regex
  if (
    !name.startsWith('refs/') ||
    /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[/.]$/.test(name)
  )
    return false
  return true
}

/** Whether a ref can hold this: an object id, or for HEAD the name of a branch as well. */
export function isRefTarget(ref: string, target: string): boolean {
  if (ref === 'HEAD' && target.startsWith('ref: ')) return isRefName(target.slice('ref: '.length))
  return /^[0-9a-f]{40}$/.test(target)
}

/**
 * The file of a ref. Whoever makes a path of a ref's name makes it here: what git lets no ref be called is refused with
 * `damaged_repository`, wherever it came from, so that no text that somebody sent can name another file.
 */
export function refPath(gitdir: string, ref: string): string {
  assertRefName(ref)
  return `${gitdir}/${ref}`
}

/** Refuses a ref that cannot be, or that cannot hold this, with `damaged_repository`. To be asked before it is written. */
export function assertRef(ref: string, target: string): void {
  assertRefName(ref)
  if (!isRefTarget(ref, target))
    throw refused(`${JSON.stringify(target.slice(0, 200))} cannot be what ${ref} holds`)
}

function assertRefName(ref: string): void {
  if (!isRefName(ref)) throw refused(`${JSON.stringify(ref.slice(0, 200))} cannot be the name of a ref`)
}

function refused(what: string): Refusal {
  return new Refusal(
    'damaged_repository',
    `${what}, so nothing was read or written there. Look for it in what the repository or its backup says (git check-ref-format).`,
  )
}
