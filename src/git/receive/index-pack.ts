import { Refusal } from '../../errors.ts'
import { runGit } from '../program/git-process.ts'
import { gitEnvironment } from '../program/git-environment.ts'
import type { Quarantine } from './quarantine.ts'

/** The pack of a push, and its limits. */
export interface PackStream {
  readonly bytes: AsyncIterable<Buffer>
  readonly maxBytes: number
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
}

/** Blobs larger than this are never held in memory. */
const LARGE_BLOB = '16m'

/**
 * The most memory that git may allocate at once (wrapper.c reads the limit from the environment): a pack of a few kilobytes can have a
 * delta that makes gigabytes. Git's data about a million objects takes a quarter of it.
 */
const LARGEST_PIECE = '256m'

/**
 * Has git write an incoming pack with its index into the quarantine, completed if it is thin, and answers its name (`pack-<hash>`). Refuses
 * with `invalid_file` a pack that git finds damaged or with malformed objects, with `limit_exceeded` one that is too large.
 */
export async function indexPack(
  { variables, packFolder }: Quarantine,
  { bytes, maxBytes, signal }: PackStream,
): Promise<string> {
  const { code, complaint, output } = await runGit({
    args: ['index-pack', '--stdin', '--fix-thin', '--strict', `--max-input-size=${maxBytes}`],
    // Git need not sync the pack: it is synced when it is taken into the repository.
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
