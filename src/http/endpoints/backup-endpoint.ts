import { once } from 'node:events'
import { type Pack, pack } from 'tar-stream'
import { z } from 'zod'
import type { Semaphore } from '../../base/scheduling.ts'
import { Refusal } from '../../errors.ts'
import { createBundle } from '../../git/program.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import type { Registry } from '../../registry/registries.ts'
import { type Spool, type Spooled, spooled, type Spools } from '../body/spool.ts'
import { acquireForGit } from '../git/git-room.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'

/** The resources of backups. */
export interface BackupPlace {
  /** Shared with clones, fetches and pushes. */
  readonly gitPermits: Semaphore
  /** Stores a bundle until it is sent: a tar says how long an entry is before the entry. */
  readonly spools: Spools
}

/**
 * `GET /projects/current/backup`: a tar with a git bundle of each repository of the project, `<family>/<slug>.bundle`, with all its refs
 * (interface 14.7). It is made while it is sent, one repository after the other. A failure after the first byte breaks the connection, so
 * that nobody takes half a backup for a whole one.
 */
export function backupEndpoint(place: BackupPlace): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/projects/current/backup',
    tag: 'projects',
    summary:
      'Every repository of the project as a git bundle with all its refs, in one tar, made while it is sent',
    scope: 'admin',
    output: z.never(),
    downloads: [TAR],
    run: async ({ registry, caller, untilGone }) => {
      const artifacts = await everyArtifact(registry)
      return {
        stream: tarOf(artifacts, { ...place, registry, project: caller.project, signal: untilGone() }),
        contentType: TAR,
        headers: {
          'Cache-Control': 'no-store',
          'Content-Disposition': `attachment; filename="${caller.project}.tar"`,
        },
      }
    },
  })
}

const TAR = 'application/x-tar'

/** Every artifact of the project, archived ones too. Refuses while one cannot be served, because it would be missing in the backup. */
async function everyArtifact(registry: Registry): Promise<readonly ArtifactView[]> {
  if (!registry.store.fs.isSeenByOthers)
    throw new Refusal(
      'storage_unavailable',
      'This store is in memory, where git cannot see it; there is no backup of it.',
    )
  const artifacts: ArtifactView[] = []
  for (const family of registry.families)
    for (const it of await registry.index.list(family)) artifacts.push(it)
  const [problem] = registry.index.problems()
  if (!problem) return artifacts
  throw new Refusal(
    'damaged_repository',
    `${problem.repository} cannot be read, so a backup would lack it: ${problem.reason} Repair or remove it, and ask again.`,
  )
}

interface Backup extends BackupPlace {
  readonly registry: Registry
  readonly project: string
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
}

async function* tarOf(artifacts: readonly ArtifactView[], backup: Backup): AsyncGenerator<Buffer> {
  const tar = pack()
  const filled = fill(tar, artifacts, backup)
  filled.then(
    () => tar.finalize(),
    (error: Error) => tar.destroy(error),
  )
  try {
    yield* tar as AsyncIterable<Buffer>
  } finally {
    tar.destroy()
    await filled.catch(() => undefined) // the reader of the tar has got the error
  }
}

/** Writes an entry for each repository. Rejects once the client has left. */
async function fill(tar: Pack, artifacts: readonly ArtifactView[], backup: Backup): Promise<void> {
  const { signal, registry } = backup
  const file = { mode: 0o600, mtime: registry.now() }
  for (const artifact of artifacts) {
    const bundle = await bundleOf(artifact, backup)
    if (!bundle) continue
    try {
      const name = `${artifact.family.folder}/${artifact.slug}.bundle`
      const entry = tar.entry({ ...file, name, size: bundle.bytes })
      for await (const piece of bundle.chunks())
        if (!entry.write(piece)) await once(entry, 'drain', { signal })
      entry.end(undefined)
      signal.throwIfAborted()
    } finally {
      bundle.discard()
    }
  }
}

type Bundle = Spooled & Pick<Spool, 'discard'>

/**
 * The bundle of a repository; undefined if it was removed since. Tries again when git fails, because the repository may have been removed and
 * brought back while git read it.
 */
async function bundleOf(artifact: ArtifactView, backup: Backup): Promise<Bundle | undefined> {
  const { family, slug } = artifact
  for (let tries = 1; ; tries++) {
    const made = await tryToBundle(artifact, backup)
    if (!('complaint' in made)) return made
    if (!backup.registry.store.exists(family.folder, slug)) return undefined
    if (tries === MOST_TRIES)
      throw new Refusal('damaged_repository', `git cannot bundle ${family.folder}/${slug}: ${made.complaint}`)
  }
}

const MOST_TRIES = 3

/** The bundle, or what git says instead. A slow client holds no permit while it reads. */
async function tryToBundle(
  { repository }: ArtifactView,
  { gitPermits, spools, project, signal }: Backup,
): Promise<Bundle | { readonly complaint: string }> {
  const release = await acquireForGit(gitPermits, project, signal)
  const spool = spools.open({ inMemory: true })
  let isWhole = false
  try {
    const { output, ended } = createBundle(repository.path, signal)
    const bundle = await spooled(spool, output)
    const { code, complaint } = await ended
    isWhole = code === 0
    return isWhole ? { ...bundle, discard: () => spool.discard() } : { complaint }
  } finally {
    if (!isWhole) spool.discard()
    release()
  }
}
