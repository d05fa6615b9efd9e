import type { Commit } from '../../git/objects.ts'
import { type ArtifactView, stateNow } from '../artifacts/artifact-view.ts'
import { commitChange } from '../artifacts/change-artifact.ts'
import type { Registry } from '../store/registry.ts'

/** The author of records about plain git's branches and tags. */
const RECORDER = {
  id: '00000000-0000-0000-0000-000000000000',
  name: 'Branchpoint',
  email: 'registry@branchpoint.local',
}

const SUBJECT = 'Record branches and tags that came without the server'

/** Whether a commit of refs/meta/artifact only records branches and tags of plain git, and changes nothing else. */
export function isRecordOnly({ author, message }: Commit): boolean {
  return author.email === RECORDER.email && message.trimEnd() === SUBJECT
}

/** Milliseconds in which a record may still arrive; after that, a ref without one counts as plain git's. */
const SETTLED = 200

/** Further artifacts follow while the server answers requests. */
const ARTIFACTS_WRITTEN_BEFORE_START = 100

/** Keeps a record of branches and tags that plain git creates. */
export interface ClaimKeeper {
  /**
   * Records those that a sweep of the whole store found, or that an earlier process saw and did not record. Resolves when the first few
   * artifacts are done.
   */
  recordSeen(): Promise<void>
  stop(): void
}

/**
 * Records on refs/meta/artifact when plain git's branches and tags were first seen, so that the meaning of a slug stays the same after a
 * restart and in a clone (decision 40).
 */
export function keepClaims(registry: Registry): ClaimKeeper {
  const timers = new Map<string, NodeJS.Timeout>()
  let isStopped = false
  const record = async (id: string): Promise<void> => {
    clearTimeout(timers.get(id))
    timers.delete(id)
    try {
      const now = await registry.index.findByDigits(id)
      if (now?.id === id) await recordClaims(registry, now)
    } catch {
      // If the record cannot be written now (a lock, a full disk), the next change of the artifact or the next start tries again.
    }
  }
  const recordAll = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) if (!isStopped) await record(id)
  }
  const unwatch = registry.index.watchUnrecorded(({ id }) => {
    if (timers.has(id)) return
    timers.set(id, setTimeout(() => void record(id), SETTLED).unref())
  })
  return {
    recordSeen: async () => {
      const ids = registry.index.unrecorded()
      await recordAll(ids.slice(0, ARTIFACTS_WRITTEN_BEFORE_START))
      void recordAll(ids.slice(ARTIFACTS_WRITTEN_BEFORE_START))
    },
    stop: () => {
      isStopped = true
      unwatch()
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

async function recordClaims(registry: Registry, artifact: ArtifactView): Promise<void> {
  if (!artifact.isUnrecorded) return
  const { variants, tagsSince, repository, family, slug } = artifact
  await repository.transact(async (transaction) => {
    const state = await stateNow(artifact, transaction)
    const branches = variants.filter((it) => !state.variants.has(it.slug))
    const tags = new Map(state.tags)
    for (const [tag, since] of tagsSince) if (!tags.has(tag)) tags.set(tag, since)
    if (branches.length === 0 && tags.size === state.tags?.size) return
    const change = {
      subject: SUBJECT,
      variants: Object.fromEntries(branches.map((it) => [it.slug, it.record])),
      tags,
    }
    await commitChange(registry, artifact, state, change, { actor: RECORDER }, transaction)
  })
  await registry.index.takeInOwn(family, slug)
}
