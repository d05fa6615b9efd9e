import { expect } from 'chai'
import type { Refusal } from '../../../src/errors.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { problemOf } from '../../../src/http/problem.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { mergeVariants } from '../../../src/registry/merge/merge-variants.ts'
import type { Merged, MergeOptions } from '../../../src/registry/merge/write-merge.ts'
import type { Registry } from '../../../src/registry/store/registry.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import type { VariantLocation } from '../../../src/registry/revisions/references.ts'
import { resolveVariant } from '../../../src/registry/revisions/references.ts'
import { readRevisionAt } from '../../../src/registry/revisions/revision.ts'
import { forkVariant } from '../../../src/registry/variants/fork-variant.ts'
import { restsDuring } from '../../support/rests.ts'
import { context, memoryRegistry, newVariant } from '../memory-registry.ts'

describe('versioning: where a merge is worked out', () => {
  let registry: Registry
  const commit = async (place: VariantLocation, data: Json): Promise<void> => {
    await commitRevision(registry, place, { header: {}, data, message: undefined, loc: [] }, context)
  }
  const find = (slug: string): Promise<VariantLocation> =>
    resolveVariant(registry, workflowFamily, { slug }, { slug: 'bot' })
  const merge = async (options: MergeOptions = {}): Promise<Merged> => {
    const [target, source] = [await find('bot'), await find('warm')]
    return mergeVariants(registry, { source: { variant: source }, target, ...options }, context)
  }
  const headOf = async (slug: string): Promise<string | undefined> =>
    (await find(slug)).artifact.repository.refs.snapshot().refs.get(`refs/heads/${slug}`)
  const dataOf = async ({ place }: Merged): Promise<unknown> =>
    place && (await readRevisionAt(place)).stored.payload

  beforeEach(async () => {
    registry = await memoryRegistry()
    const bot = await newVariant(registry, workflowFamily, 'bot')
    await commit(bot, { parameters: { a: 1, b: 1, c: 1 } })
    await forkVariant(
      registry,
      workflowFamily,
      { variant: { slug: 'bot' } },
      { slug: 'warm', header: {}, loc: [] },
      context,
    )
    await commit(await find('bot'), { parameters: { a: 2, b: 1, c: 1 } })
    await commit(await find('warm'), { parameters: { a: 1, b: 2, c: 1 } })
  })

  /** Holds up all writes of the artifact until it is called. */
  const holdUp = async (): Promise<() => void> => {
    const { repository } = (await find('bot')).artifact
    let release = (): void => undefined
    const isHeld = new Promise<void>((resolve) => (release = resolve))
    void repository.transact(() => isHeld)
    return release
  }

  it('a dry run waits for no write', async () => {
    const release = await holdUp()
    const { kind, conflicts, place } = await merge({ dryRun: true })
    expect({ kind, conflicts, place }).to.deep.equal({ kind: 'merge', conflicts: [], place: undefined })
    release()
  })

  it('a merge is worked out beside the writes, and anew where one overtook it', async () => {
    const release = await holdUp()
    // Written first when writes go on; the merge was worked out on what was there before.
    const overtaking = commit(await find('bot'), { parameters: { a: 2, b: 1, c: 3 } })
    const merging = merge()
    release()
    await overtaking
    expect(await dataOf(await merging)).to.deep.equal({ parameters: { a: 2, b: 2, c: 3 } })
  })

  it('a merge that is overtaken again and again takes its turn', async () => {
    const { repository } = (await find('bot')).artifact
    const { trial } = repository
    let trials = 0
    // Each time it has been worked out, somebody else was faster.
    repository.trial = (isFirst) => {
      trials++
      const made = trial.call(repository, isFirst)
      made.isStillSo = () => false
      return made
    }
    expect(await dataOf(await merge())).to.deep.equal({ parameters: { a: 2, b: 2, c: 1 } })
    expect(trials).to.equal(3)
  })

  it('ends when nobody waits for it any more, and stores nothing', async () => {
    const head = await headOf('bot')
    const reason = new Error('nobody waits')
    let ended: unknown
    await restsDuring(async () => {
      ended = await merge({ signal: AbortSignal.abort(reason) }).catch((error: unknown) => error)
    })
    expect(ended).to.equal(reason)
    expect(await headOf('bot')).to.equal(head)
  })

  it('ends when its time is over, and stores nothing', async () => {
    const head = await headOf('bot')
    let looks = 0
    Object.defineProperty(performance, 'now', { value: () => ++looks * 100_000, configurable: true })
    try {
      const ended = await merge().catch((error: unknown) => error)
      expect(ended).to.have.property('code', 'merge_too_slow')
      expect(problemOf(ended as Refusal)).to.include({ status: 422, title: 'The merge takes too long' })
    } finally {
      Reflect.deleteProperty(performance, 'now')
    }
    expect(await headOf('bot')).to.equal(head)
  })
})
