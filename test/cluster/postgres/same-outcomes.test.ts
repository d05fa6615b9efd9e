import { expect } from 'chai'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import * as fc from 'fast-check'
import { MemoryDatabase } from '../../support/postgres/memory-log.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import type {
  Outcome,
  Proposal,
  ProposedWrite,
  SharedLog,
} from '../../../src/cluster/following/shared-log.ts'
import type { FolderMove } from '../../../src/git/trash/folder-move.ts'
import { openPostgres } from '../../../src/cluster/postgres/open-postgres.ts'

/** What a server may ask for; what of it fits is said by what the log has by then. */
interface Step {
  readonly kind: 'create' | 'write' | 'trash' | 'bring back' | 'purge'
  readonly repository: number
  /** Another one, that is written to as well, needed, or seen. */
  readonly other: number
  readonly beside: 'nothing' | 'write' | 'need' | 'seen' | 'seen long ago'
  readonly ref: string
  readonly value: number
  readonly isStale: boolean
  readonly isRemoval: boolean
  readonly claim: string | undefined
  readonly mustBeFree: boolean
}

const STEP: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    'create',
    'create',
    'write',
    'write',
    'write',
    'write',
    'trash',
    'bring back',
    'purge',
  ),
  repository: fc.integer({ min: 0, max: 3 }),
  other: fc.integer({ min: 0, max: 3 }),
  beside: fc.constantFrom('nothing', 'nothing', 'write', 'need', 'seen', 'seen long ago'),
  ref: fc.constantFrom('refs/heads/main', 'refs/tags/a', 'refs/meta/artifact', 'HEAD'),
  value: fc.integer({ min: 1, max: 9 }),
  isStale: fc.boolean(),
  isRemoval: fc.boolean(),
  claim: fc.option(fc.constantFrom('workflows/variant/a', 'workflows/tag/a', 'id/1'), { nil: undefined }),
  mustBeFree: fc.boolean(),
})

const PLAIN: Step = {
  kind: 'create',
  repository: 0,
  other: 1,
  beside: 'nothing',
  ref: 'refs/heads/main',
  value: 1,
  isStale: false,
  isRemoval: false,
  claim: undefined,
  mustBeFree: false,
}

/** A repository that is needed and lies in the trash, which chance seldom brings. */
const NEEDED: Step[][] = [
  [PLAIN, { ...PLAIN, repository: 1 }],
  [{ ...PLAIN, kind: 'trash', repository: 1 }],
  [{ ...PLAIN, kind: 'write', value: 2, beside: 'need' }],
]

describe('postgres: the functions of the database', function () {
  let postgres: PostgresServer
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  it('decide as the plain model does, and tell the same afterwards', async () => {
    const kinds = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(STEP, { minLength: 1, maxLength: 4 }), { maxLength: 12 }),
        async (batches) => {
          const model = await new MemoryDatabase().open(undefined)
          const url = await postgres.database()
          const real = await openPostgres({ url, reads: undefined, warn: () => undefined })(undefined)
          try {
            for (const batch of batches) {
              const states = await model.statesBehind('', 1000)
              const proposals = batch.map((step) => proposalOf(step, states))
              const [wanted, found] = [await model.append(proposals), await real.append(proposals)]
              expect(found.outcomes.map(kindOf)).to.deep.equal(wanted.outcomes.map(kindOf))
              for (const outcome of wanted.outcomes)
                kinds.add('refused' in outcome ? outcome.refused : 'done')
              expect(await statesOf(real)).to.deep.equal(await statesOf(model))
              expect(await told(real)).to.deep.equal(await told(model))
            }
            expect(await entriesOf(real)).to.deep.equal(await entriesOf(model))
            expect(await notesOf(real)).to.deep.equal(await notesOf(model))
          } finally {
            await real.close()
          }
        },
      ),
      { numRuns: 25, examples: [[NEEDED]] },
    )
    expect([...kinds].sort()).to.deep.equal(['claimed', 'done', 'moved'])
  })

  it('give with each entry the bytes of its own packs', async () => {
    const url = await postgres.database()
    const log = await openPostgres({ url, reads: undefined, warn: () => undefined })(undefined)
    try {
      const step = { ...PLAIN, beside: 'write' } as const
      await log.append([proposalOf(PLAIN, new Map()), proposalOf({ ...PLAIN, repository: 1 }, new Map())])
      const states = await log.statesBehind('', 1000)
      await log.append([proposalOf({ ...step, kind: 'write', value: 2 }, states)])
      const entries = await log.read(new Map(), (await log.look()).positions)
      const packs = entries.map(({ writes }) =>
        writes.map((write) => write.packs.map(({ name, bytes }) => [name, bytes?.toString()])),
      )
      const [one, two] = [1, 2].map((value) => `pack-${`${value}`.repeat(40)}`)
      expect(packs).to.deep.equal([[[[one, one]]], [[[one, one]]], [[[two, two]], [[two, two]]]])
    } finally {
      await log.close()
    }
  })
})

type States = Awaited<ReturnType<SharedLog['states']>>

function proposalOf(step: Step, states: States): Proposal {
  const repository = nameOf(step.repository)
  const other = nameOf(step.other)
  const nothing: Proposal = { writes: [], needs: [], seen: new Map(), notes: [`notes/${step.value}`] }
  if (step.kind === 'trash' || step.kind === 'bring back') {
    const version = (states.get(repository)?.version ?? 0) - (step.isStale ? 1 : 0)
    return { ...nothing, moved: moveOf(repository, step), seen: new Map([[repository, version]]) }
  }
  if (step.kind === 'purge') return { ...nothing, purged: { repository, isRemembered: step.isRemoval } }
  const writes = [writeOf(step, repository, states)]
  if (step.beside === 'write' && other !== repository)
    writes.push(writeOf({ ...step, kind: 'write', claim: undefined }, other, states))
  const seen = (states.get(other)?.version ?? 0) - (step.beside === 'seen long ago' ? 1 : 0)
  return {
    ...nothing,
    writes,
    needs: step.beside === 'need' ? [other] : [],
    seen: new Map(step.beside.startsWith('seen') && other !== repository ? [[other, seen]] : []),
  }
}

function writeOf(step: Step, repository: string, states: States): ProposedWrite {
  const { ref, value, isStale, isRemoval, claim, mustBeFree } = step
  const target = ref === 'HEAD' ? `ref: refs/heads/b${value}` : isRemoval ? undefined : `${value}`.repeat(40)
  const there = states.get(repository)?.refs.get(ref)
  const isNew = step.kind === 'create'
  const expected = isNew ? undefined : isStale ? 'f'.repeat(40) : there
  const name = `pack-${`${value}`.repeat(40)}`
  return {
    repository,
    // How HEAD of a new one begins is said by `head`.
    moves: isNew && (target === undefined || ref === 'HEAD') ? [] : [{ ref, expected, target }],
    pack: { name, bytes: Buffer.from(name) },
    staged: [],
    head: isNew ? 'main' : undefined,
    claims: claim === undefined ? [] : [{ name: claim, mustBeFree, isTaken: !isStale }],
  }
}

function moveOf(repository: string, { kind, value }: Step): FolderMove {
  const trashed = repository.replace('/', '/.trash/')
  const [from, to] = kind === 'trash' ? [repository, trashed] : [trashed, repository]
  return { from, to, stamp: `stamp ${value}` }
}

function nameOf(number: number): string {
  return `default/workflows/${'abcd'[number]}.git`
}

function kindOf(outcome: Outcome): unknown {
  return 'refused' in outcome ? outcome.refused : outcome.versions
}

async function statesOf(log: SharedLog): Promise<unknown> {
  const states = [...(await log.statesBehind('', 1000))].sort(([a], [b]) => (a < b ? -1 : 1))
  return states.map(([path, { refs, packs, ...state }]) => ({
    path,
    ...state,
    refs: Object.fromEntries([...refs].sort()),
    packs: [...packs].sort(),
  }))
}

/** The notes that the log has now. */
async function notesOf({ documents }: SharedLog): Promise<string[]> {
  return (await documents.table.summaries()).map(({ path }) => path).sort()
}

/** The notes that were made since the call before. */
async function told({ documents }: SharedLog): Promise<string[]> {
  return ((await documents.entries()) ?? []).map(({ path }) => path).sort()
}

/** All that happened; packs of what was purged since are gone. */
async function entriesOf(log: SharedLog): Promise<unknown> {
  const entries = await log.read(new Map(), (await log.look()).positions)
  return entries.map(({ n, item, writes, moved, purged }) => ({
    n,
    item,
    moved: moved && { from: moved.from, to: moved.to, stamp: moved.stamp, version: moved.version },
    purged: purged && { ...purged },
    writes: writes.map(({ repository, version, moves, packs, head }) => ({
      repository,
      version,
      head,
      moves: moves.map(({ ref, expected, target }) => ({ ref, expected, target })),
      packs: packs.map(({ name }) => name),
    })),
  }))
}
