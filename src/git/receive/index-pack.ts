import { Refusal } from '../../errors.ts'
import { runGit } from '../program/git-process.ts'
import { gitEnvironment } from '../program/git-environment.ts'
import type { Quarantine } from './quarantine.ts'

/** The pack of a push, and how much it may hold. */
export interface PackStream {
  readonly bytes: AsyncIterable<Buffer>
  readonly maxBytes: number
  /** The client has gone. */
  readonly signal: AbortSignal
}

/** Blobs larger than this are never held in memory. */
const LARGE_BLOB = '16m'

/**
 * git takes no more memory than this for one thing (wrapper.c, which reads it from the environment): a pack of a few kilobytes can hold
 * a delta that makes gigabytes. What git notes of a million objects takes a quarter of it.
 */
const LARGEST_PIECE = '256m'

/**
 * Has git write a pack that comes in, completed where it is thin, with its index into the quarantine, and answers its name
 * (`pack-<hash>`). Refuses with `invalid_file` a pack that git takes for damaged or its objects for ill-formed, with
 * `limit_exceeded` one that is too large.
 */
export async function indexPack(
  { variables, packFolder }: Quarantine,
  { bytes, maxBytes, signal }: PackStream,
): Promise<string> {
  const { code, complaint, output } = await runGit({
    args: ['index-pack', '--stdin', '--fix-thin', '--strict', `--max-input-size=${maxBytes}`],
    // What is kept is synced by its keeper.
    env: gitEnvironment(
      { 'core.fsync': 'none', 'core.bigFileThreshold': LARGE_BLOB },
      {
        ...variables,
        GIT_ALLOC_LIMIT: LARGEST_PIECE,
      },
    ),
    input: bytes,
    signal,
  })
  const name = /^(?:pack|keep)\t([0-9a-f]{40})$/m.exec(output)?.[1]
  if (code === 0 && name !== undefined) return `pack-${name}`
  if (/exceeds maximum allowed size/.test(complaint)) {
    throw new Refusal(
      'limit_exceeded',
      `The push is larger than ${maxBytes} bytes. Push fewer commits at once, or ask the operator for a higher limit.`,
      { details: { limit: maxBytes } },
    )
  }
  const why = complaint.replaceAll(packFolder, 'the pack').split('\n').slice(0, 5).join('; ')
  throw new Refusal(
    'invalid_file',
    `git does not accept the objects of the push (${why}). Run git fsck --strict in your clone.`,
  )
}
