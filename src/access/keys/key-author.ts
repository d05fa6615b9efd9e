import { invalid } from '../../errors.ts'

/** The parts of a git author, `Name <email>`. */
export interface KeyAuthor {
  readonly name: string
  readonly email: string
}

/**
 * The author of a key's commits. Refuses what a commit header cannot hold (angle brackets, control characters, an empty name). The default
 * email is `<slug of the name>@branchpoint.local`.
 */
export function keyAuthor(name: string, email?: string): KeyAuthor {
  const trimmed = name.trim()
  if (trimmed === '') throw invalid(['name'], 'a key needs a name; it becomes the author of its commits.')
  if (trimmed.length > 100)
    throw invalid(['name'], `the name has ${trimmed.length} characters; at most 100 fit.`)
  if (UNFIT.test(trimmed)) {
    throw invalid(
      ['name'],
      `${JSON.stringify(name)} holds "<", ">" or a control character, which a git author cannot.`,
    )
  }
  if (!/[\p{L}\p{N}]/u.test(trimmed)) {
    throw invalid(['name'], `${JSON.stringify(name)} has no letter and no digit; git would drop such a name.`)
  }
  return { name: trimmed, email: checkedEmail(email ?? `${slugOf(trimmed)}@branchpoint.local`) }
}

// Cc and Cs: control characters and lone surrogates; Zl and Zp: separators that break a line.
const UNFIT = /[<>\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

function checkedEmail(email: string): string {
  if (email.length <= 254 && !UNFIT.test(email) && /^[^\s@]+@[^\s@]+$/.test(email)) return email
  throw invalid(['email'], `${JSON.stringify(email)} is not an email address like ci@example.org.`)
}

function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return slug || 'key'
}
