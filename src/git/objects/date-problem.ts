import { parseHeaders } from './headers.ts'
import { LATEST_SECONDS } from './ident.ts'

/**
 * What is wrong with the dates of author and committer in the bytes of a commit; undefined if a calendar has both, which is from 1970 to
 * 9999. `git fsck --strict` takes any number of seconds.
 */
export function dateProblem(commit: Buffer): string | undefined {
  const { headers } = parseHeaders(commit)
  for (const role of ['author', 'committer']) {
    const line = headers.find(({ key }) => key === role)?.value
    if (line === undefined) return `has no ${role}`
    const seconds = /> (\d+)(?: |$)/.exec(line)?.[1]
    if (seconds === undefined) return `has no date of its ${role}`
    if (Number(seconds) > LATEST_SECONDS)
      return `says that its ${role} date is ${seconds.slice(0, 40)} seconds after 1970, which no calendar has`
  }
  return undefined
}
