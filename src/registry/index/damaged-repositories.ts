import { Refusal, type RefusalCode } from '../../errors.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'

/** A repository that is in the store and not served, and why. */
export interface RepositoryProblem {
  readonly repository: string
  readonly reason: string
}

/** What a whole machine lacks, rather than one repository. */
const OF_THE_MACHINE = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC'])

const UNREADABLE = new Set<RefusalCode>(['damaged_repository', 'unsupported_format'])

/**
 * The refusal to serve one repository for what was thrown when it was read: it is damaged, or the disk lets nobody read it. Undefined for
 * anything else, which is no reason to go on without it.
 */
export function damageOf(error: unknown, repository: string): Refusal | undefined {
  if (error instanceof Refusal) return UNREADABLE.has(error.code) ? error : undefined
  const { code, syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException> // anything may be thrown
  if (code === undefined || syscall === undefined || OF_THE_MACHINE.has(code)) return undefined
  return new Refusal(
    'damaged_repository',
    `${repository} cannot be read: the disk says ${code} (${syscall}). See to it that the server's user may read and write all of it.`,
  )
}

/**
 * What `read` reads of an artifact for a list; undefined where its repository is damaged: one must not hide the others. The log and
 * /ready tell of it.
 */
export async function unlessDamaged<T>(
  { index }: { readonly index: { leftOut(artifact: ArtifactView, reason: Refusal): void } },
  artifact: ArtifactView,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    const reason = damageOf(error, `${artifact.family.folder}/${artifact.slug}`)
    if (!reason) throw error
    index.leftOut(artifact, reason)
    return undefined
  }
}
