import { expect } from 'chai'
import fc from 'fast-check'
import { workflowFamily } from '../../../../src/run/handlers/workflows.ts'
import { commitRevision } from '../../../../src/registry/revisions/commit-revision.ts'
import { archiveVariant, editArtifact } from '../../../../src/registry/artifacts/change-artifact.ts'
import { createArtifact } from '../../../../src/registry/artifacts/create-artifact.ts'
import { forkVariant } from '../../../../src/registry/variants/fork-variant.ts'
import { queryRevisions } from '../../../../src/registry/revisions/query-revisions.ts'
import type { VariantLocation } from '../../../../src/registry/revisions/references.ts'
import type { Registry } from '../../../../src/registry/store/registry.ts'
import type { Revision } from '../../../../src/registry/revisions/revision.ts'
import type { Windowing } from '../../../../src/registry/store/pagination.ts'
import { context, memoryRegistry } from '../../memory-registry.ts'
import { listed } from './listed.ts'

const START = Date.parse('2026-01-01T00:00:00Z')

/** Few moments for many commits, out of order, so that versions and ids decide as well. */
const moment = fc.integer({ min: 0, max: 5 })

/** What happens next, and to which artifact, counted round those there are. */
const step = fc.record({
  what: fc.constantFrom(
    'create',
    'commit',
    'commit',
    'commit',
    'fork',
    'edit',
    'reset',
    'drop',
    'archive',
    'remove',
    'nothing',
  ),
  at: moment,
  to: fc.nat(20),
  isAsked: fc.boolean(),
})

describe('versioning: the index of revisions after random histories', () => {
  it('is what one that is made anew is, whether it was asked meanwhile or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 24 }), async (steps) => {
        let time = START
        const registry = await memoryRegistry(undefined, () => new Date(time))
        for (const [number, { what, at, to, isAsked }] of steps.entries()) {
          time = START + at * 1000
          await take(registry, what, number, to)
          if (isAsked) await expectAsAnew(registry)
        }
        await expectAsAnew(registry)
        await registry.index.close()
      }),
      { numRuns: 60 },
    )
  })

  it('pages through it by any window', async () => {
    let time = START
    const registry = await memoryRegistry(undefined, () => new Date(time))
    for (let number = 0; number < 24; number++) {
      time = START + ((number * 7) % 5) * 1000
      await take(registry, number < 4 ? 'create' : 'commit', number, number)
    }
    const query = async (windowing?: Windowing, dates?: readonly string[]): Promise<readonly Revision[]> =>
      (await queryRevisions(registry, workflowFamily, { roles: {}, filter: { dates }, windowing })).rows
    const rows = await query()
    expect(rows).to.have.length(24)
    const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
      fc.option(of, { nil: undefined, freq: 2 })
    const bound = maybe(moment.map(timeOf))
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          order: fc.constantFrom('ascending', 'descending', undefined),
          newest: bound,
          oldest: bound,
          next: maybe(fc.constantFrom(...rows.map(({ id }) => id))),
          limit: maybe(fc.integer({ min: 1, max: 9 })),
        }),
        maybe(fc.array(moment.map(timeOf), { maxLength: 4 })),
        async (windowing, dates) => {
          const page = await query(windowing, dates)
          expect(page.map(({ id }) => id)).to.deep.equal(expectedPage(rows, windowing, dates))
        },
      ),
      { numRuns: 200 },
    )
  })
})

async function take(registry: Registry, what: string, number: number, to: number): Promise<void> {
  const artifacts = [...(await registry.index.list(workflowFamily))]
  const message = `Step ${number}`
  const data = { parameters: { number } }
  if (what === 'create') {
    const withVariant = { revision: { message, payload: data } }
    const sent = { slug: `bot-${number}`, header: {}, withVariant, loc: [] }
    await createArtifact(registry, workflowFamily, sent, context)
  }
  const artifact = artifacts[to % artifacts.length]
  const variant = artifact?.variants[to % artifact.variants.length]
  if (!artifact || !variant) return
  const place = { artifact, variant }
  if (what === 'commit' && variant.record.deleted_at === undefined)
    await commitRevision(registry, place, { data, message, header: {}, loc: [] }, context)
  if (what === 'fork') {
    const fork = { slug: `fork-${number}`, header: {}, loc: [] }
    await forkVariant(registry, workflowFamily, { variant: { id: variant.id } }, fork, context)
  }
  if (what === 'edit') await editArtifact(registry, artifact, { name: message }, context)
  const isArchived = variant.record.deleted_at !== undefined
  if (what === 'archive') await archiveVariant(registry, place, isArchived ? 'unarchive' : 'archive', context)
  // As plain git does it: back to the first commit, and gone.
  if (what === 'reset' && variant.head !== undefined) {
    const first = await registry.store.repository('workflows', artifact.slug).history.node(variant.head)
    await move(registry, place, first.parent?.oid ?? first.oid)
  }
  if (what === 'drop' && artifact.variants.length > 1) await move(registry, place, undefined)
  if (what === 'remove') {
    registry.store.fs.removeTree(artifact.repository.path)
    await registry.index.sweep()
  }
}

async function move(registry: Registry, { artifact, variant }: VariantLocation, target: string | undefined) {
  await artifact.repository.transact(async (transaction) => {
    const ref = `refs/heads/${variant.slug}`
    if (target === undefined) transaction.removeDerivedRef(ref)
    else transaction.setDerivedRef(ref, target)
  })
  await registry.index.sweep()
}

async function expectAsAnew(registry: Registry): Promise<void> {
  const list = [...(await registry.index.list(workflowFamily))]
  const order = list.map(({ record, id }) => `${record.created_at} ${id}`)
  expect(order).to.deep.equal([...order].sort())
  for (const includeArchived of [true, false]) {
    const anew = await memoryRegistry(registry.store.fs)
    expect(await listed(registry, { includeArchived })).to.deep.equal(await listed(anew, { includeArchived }))
  }
}

function timeOf(seconds: number): string {
  return new Date(START + seconds * 1000).toISOString()
}

/** The ids of a page, worked out by looking at every row. */
function expectedPage(
  rows: readonly Revision[],
  { order, newest, oldest, next, limit }: Windowing,
  dates: readonly string[] | undefined,
): string[] {
  const isUp = order === 'ascending'
  const inOrder = isUp ? rows : rows.toReversed()
  const behind = inOrder.slice(inOrder.findIndex(({ id }) => id === next) + 1)
  const page = behind.filter(({ stored }) => {
    const time = timeOf(stored.commit.committer.seconds - START / 1000)
    const isFirst = next === undefined && time === (isUp ? oldest : newest)
    return time >= (oldest ?? time) && time <= (newest ?? time) && !isFirst && (dates?.includes(time) ?? true)
  })
  return page.slice(0, limit).map(({ id }) => id)
}
