import { expect } from 'chai'
import { NOTES_REF, type ResultSet, writeEvaluationNote } from '../../src/run/evaluations/evaluation-note.ts'
import { parseCommit } from '../../src/git/objects/object.ts'
import type { Oid } from '../../src/git/objects/object.ts'
import { workflowFamily } from '../../src/run/handlers/workflows.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { environmentFamily } from '../../src/registry/families/environment-surface.ts'
import { TimeSlice } from '../../src/base/scheduling/cooperative.ts'
import { type DatabaseFile, IN_MEMORY } from '../../src/storage/sqlite/database-file.ts'
import type { ArtifactView } from '../../src/registry/artifacts/artifact-view.ts'
import { logDeployments } from '../../src/registry/environments/log-deployments.ts'
import { objectUuid } from '../../src/registry/store/ids.ts'
import { openIndexFile } from '../../src/registry/index/database/index-file.ts'
import {
  missingCommits,
  piecesBefore,
  writeArtifact,
} from '../../src/registry/index/database/write-artifact.ts'
import { compareSides } from '../../src/registry/merge/compare-sides.ts'
import { NoteReader } from '../../src/registry/push/note-tree.ts'
import type { Registry } from '../../src/registry/store/registry.ts'
import { commitRevision } from '../../src/registry/revisions/commit-revision.ts'
import { logRevisions } from '../../src/registry/revisions/log-revisions.ts'
import { locate, type RevisionLocation } from '../../src/registry/revisions/revision.ts'
import { restsDuring } from '../support/rests.ts'
import { context, memoryRegistry, newVariant } from './memory-registry.ts'

/** How many bytes of blobs the work is answered by the file. */
function bytesRead(file: DatabaseFile, work: (counted: DatabaseFile) => void): number {
  let read = 0
  const rows: DatabaseFile['rows'] = (...asked) => {
    const found = file.rows<never>(...asked)
    for (const row of found)
      for (const value of Object.values(row)) if (value instanceof ArrayBuffer) read += value.byteLength
    return found
  }
  work({
    rows,
    run: file.run.bind(file),
    transaction: file.transaction.bind(file),
  } as unknown as DatabaseFile) // all that is used of it
  return read
}

/** More than two pieces of the index. */
const MANY = 450

describe('versioning: long histories', () => {
  let registry: Registry
  let artifact: ArtifactView
  let first: RevisionLocation
  let last: RevisionLocation

  before(async () => {
    registry = await memoryRegistry()
    await newVariant(registry, workflowFamily, 'long')
    await newVariant(registry, environmentFamily, 'live')
    for (let number = 0; number < MANY; number++) await committed(registry, workflowFamily, 'long', number)
    for (let number = 0; number < 40; number++) await committed(registry, environmentFamily, 'live', number)
    const found = await registry.index.findBySlug(workflowFamily, 'long')
    const variant = found?.defaultVariant
    if (!found || variant?.head === undefined) throw new Error('it is not there')
    artifact = found
    const { history } = artifact.repository
    let root = await history.node(variant.head)
    while (root.parent) root = root.parent
    first = await locate(artifact, variant, root.oid)
    last = await locate(artifact, variant, variant.head)
  })

  it('are logged with a rest after each revision that is read, with payloads and without, and end with their client', async () => {
    for (const withData of [false, true]) {
      let rows = 0
      const log = async (): Promise<void> => {
        rows = (await logRevisions(last, { withData })).rows.length
      }
      expect(await restsDuring(log)).to.be.at.least(MANY)
      expect(rows).to.equal(MANY)
    }
    const gone = AbortSignal.abort(new Error('nobody waits'))
    let problem: unknown
    await restsDuring(() => logRevisions(last, { signal: gone }).catch((error: unknown) => (problem = error)))
    expect(problem).to.have.property('message', 'nobody waits')
  })

  it('are compared with a rest after each revision', async () => {
    let ahead = 0
    const compare = async (): Promise<void> => {
      ahead = (await compareSides(first, last, {})).ahead.length
    }
    expect(await restsDuring(compare)).to.be.at.least(2 * MANY)
    expect(ahead).to.equal(MANY - 1)
  })

  it('of environments say what was deployed with a rest after each revision', async () => {
    let moved: string[] = []
    const log = async (): Promise<void> => {
      const { rows } = await logDeployments(registry, { slug: 'live' }, undefined, new TimeSlice())
      moved = rows.map((row) => row.moved.map(({ key }) => key).join())
    }
    expect(await restsDuring(log)).to.be.at.least(80)
    expect(moved).to.deep.equal(Array.from({ length: 40 }, (_, at) => `key-${39 - at}`))
  })

  it('get notes of evaluations with a rest after each row, and one that is written again leaves others as they are', async () => {
    const rows = Array.from({ length: 200 }, (_, number) => ({
      read: () => ({ testcase_id: `${number}`, application: { outputs: 'a' }, evaluators: {} }),
    }))
    const write = (id: string, results = rows): Promise<void> => {
      const plan = {
        id,
        testset: { revision_slug: 't-1' },
        application: { revision_slug: 'long-1' },
        rows: 200,
      }
      // Of a plan and its rows only these are written.
      const set = { plan, summary: {}, finishedAt: '', results } as unknown as ResultSet
      return writeEvaluationNote(registry, first, set, context)
    }
    expect(await restsDuring(() => write('one'))).to.be.at.least(200)
    await write('two')
    const before = await noteLines(artifact, first)
    expect(before).to.have.length(2 * 201)
    expect(await restsDuring(() => write('one', rows.slice(0, 100)))).to.be.at.least(100 + before.length)
    const after = await noteLines(artifact, first)
    const ofTwo = (line: string): boolean => line.includes('"two"')
    expect(after.filter(ofTwo)).to.deep.equal(before.filter(ofTwo))
    expect(after.filter((line) => line.includes('"one"'))).to.have.length(101)
  })

  it('come into the index in pieces, of which each writes few rows, and nobody sees a part', async () => {
    const file = openIndexFile(IN_MEMORY)
    const whole = openIndexFile(IN_MEMORY)
    try {
      const commits = await missingCommits(file, artifact, new TimeSlice())
      const pieces = piecesBefore(file, artifact, commits)
      expect(pieces).to.have.length(2)
      for (const [at, piece] of pieces.entries()) {
        expect(file.transaction(piece)).to.equal(true)
        expect(countOf(file, 'revisions')).to.equal(200 * (at + 1))
        expect(countOf(file, 'lines')).to.equal(0)
      }
      for (const one of [file, whole])
        expect(one.transaction(() => writeArtifact(one, artifact, commits))).to.equal(true)
      expect(rowsOf(file)).to.deep.equal(rowsOf(whole))
      expect(piecesBefore(file, artifact, new Map())).to.deep.equal([])
    } finally {
      file.close()
      whole.close()
    }
  })

  it('of many variants come into it in pieces, too', async () => {
    const [variant] = artifact.variants
    if (!variant) throw new Error('it has none')
    const variants = Array.from({ length: MANY }, (_, number) => ({
      ...variant,
      slug: `v${number}`,
      id: `${number}`,
    }))
    const broad: ArtifactView = { ...artifact, variants }
    const file = openIndexFile(IN_MEMORY)
    const whole = openIndexFile(IN_MEMORY)
    try {
      let commits: Awaited<ReturnType<typeof missingCommits>> = new Map()
      const look = async (): Promise<void> => {
        commits = await missingCommits(file, broad, new TimeSlice())
      }
      expect(await restsDuring(look)).to.be.at.least(MANY)
      const seen: number[] = []
      for (const piece of piecesBefore(file, broad, commits)) {
        expect(file.transaction(piece)).to.equal(true)
        seen.push(countOf(file, 'variants'))
      }
      expect(seen).to.deep.equal([0, 0, 200, 400, 450])
      for (const one of [file, whole])
        expect(one.transaction(() => writeArtifact(one, broad, commits))).to.equal(true)
      expect(rowsOf(file)).to.deep.equal(rowsOf(whole))
      // All pieces together read what the whole reads, not each of them.
      const all = bytesRead(file, (counted) => writeArtifact(counted, broad, new Map()))
      const inPieces = bytesRead(file, (counted) => {
        for (const piece of piecesBefore(counted, broad, new Map())) expect(piece()).to.equal(true)
      })
      expect(inPieces).to.be.within(all / 2, all * 1.5)
    } finally {
      file.close()
      whole.close()
    }
  })

  it('of which much is archived have as many rows touched as a change of it makes, and no more', async () => {
    const [variant] = artifact.variants
    const { history } = artifact.repository
    const line: Oid[] = []
    for (let at = variant?.head; at !== undefined; at = (await history.node(at)).parent?.oid) line.push(at)
    if (!variant || line.length < MANY) throw new Error('it is not there')
    const variants = ['bot', 'one', 'two'].map((slug, at) => ({
      ...variant,
      slug,
      id: slug,
      head: line[at * 3],
    }))
    let changes = 0
    /** As its record says that these are archived, by their places behind the head. */
    const archiving = (places: readonly number[]): ArtifactView => ({
      ...artifact,
      variants,
      metaCommit: `${++changes}`.padStart(40, '0'),
      archived: new Map(
        places.map((at) => [
          objectUuid(line[at] ?? '', artifact.digits),
          { deleted_at: '', deleted_by_id: '' },
        ]),
      ),
    })
    const many = Array.from({ length: 300 }, (_, at) => at + 10)
    const file = openIndexFile(IN_MEMORY)
    try {
      const commits = await missingCommits(file, artifact, new TimeSlice())
      const touchedBy = (places: readonly number[]): number => {
        const view = archiving(places)
        const total = (): number =>
          file.rows<{ total: number }>('SELECT total_changes() AS total')[0]?.total ?? NaN
        const before = total()
        expect(file.transaction(() => writeArtifact(file, view, commits))).to.equal(true)
        const touched = total() - before
        const anew = openIndexFile(IN_MEMORY)
        anew.transaction(() => writeArtifact(anew, view, commits))
        expect(rowsOf(file), `${places.length} are archived`).to.deep.equal(rowsOf(anew))
        anew.close()
        return touched
      }
      touchedBy(many)
      // Its own row, twice: what its record says, and as of when.
      expect(touchedBy(many)).to.equal(2)
      // One revision more, which is no variant's latest …
      expect(touchedBy([...many, 350])).to.equal(3)
      expect(touchedBy(many)).to.equal(3)
      // … and the latest of one, of two, of all, and back.
      expect(touchedBy([0, ...many])).to.equal(4)
      expect(touchedBy([0, 1, 3, ...many])).to.equal(6)
      expect(touchedBy([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...many])).to.be.within(2 + 7 + 3, 2 + 7 + 3 * 3)
      expect(touchedBy([0, 1, 2, 3, 4, 5, 6, 7, 8, ...many])).to.equal(2 + 1 + 3)
      expect(touchedBy([])).to.be.at.least(2 + 309 + 3)
      // A variant that moves onto an archived one while nothing else is archived.
      touchedBy([3])
      variants[2] = { ...variant, slug: 'two', id: 'two', head: line[3] }
      touchedBy([3])
    } finally {
      file.close()
    }
  })
})

async function committed(registry: Registry, family: typeof workflowFamily, slug: string, number: number) {
  const artifact = await registry.index.findBySlug(family, slug)
  const variant = artifact?.defaultVariant
  if (!artifact || !variant) throw new Error(`${slug} is not there`)
  const references = { [`key-${number}`]: { workflow_ref: { slug: 'long' } } }
  const data: JsonObject =
    family === environmentFamily
      ? { references: number === 0 ? references : { ...(await referencesNow(registry)), ...references } }
      : { parameters: { number } }
  await commitRevision(registry, { artifact, variant }, { data, header: {}, loc: [] }, context)
}

/** The lines of the note of evaluations on a revision. */
async function noteLines({ repository }: ArtifactView, { oid }: RevisionLocation): Promise<string[]> {
  const { objects } = repository
  const head = repository.refs.current(NOTES_REF) ?? ''
  const { tree } = parseCommit((await objects.read(head))?.bytes ?? Buffer.alloc(0))
  const note = (await new NoteReader(objects, tree).find(oid)) ?? ''
  return ((await objects.read(note))?.bytes.toString() ?? '').split('\n').filter((line) => line !== '')
}

/** What the environment has under its keys. */
async function referencesNow(
  registry: Registry,
): Promise<Record<string, { workflow_ref: { slug: string } }>> {
  const found = await registry.index.findBySlug(environmentFamily, 'live')
  const head = found?.defaultVariant?.head
  if (!found || head === undefined) return {}
  const { payload } = await registry.revisions(environmentFamily).read(found.repository.objects, head)
  const pins = (payload && environmentFamily.pins?.(payload)) ?? []
  return Object.fromEntries(pins.map(({ key }) => [key, { workflow_ref: { slug: 'long' } }]))
}

function countOf(file: DatabaseFile, table: string): number {
  return file.rows<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`)[0]?.count ?? -1
}

/** What the index says of revisions and who holds them. */
function rowsOf(file: DatabaseFile): readonly unknown[] {
  return [
    file.rows('SELECT hex(oid) AS oid, depth, seconds, archived FROM revisions ORDER BY depth, oid'),
    file.rows('SELECT slug, id, hex(head) AS head, hex(latest) AS latest FROM variants ORDER BY slug'),
    file.rows(`SELECT v.slug, l.up_to, COUNT(r.oid) AS held FROM lines l JOIN variants v ON v.number = l.variant
      JOIN revisions r ON r.segment = l.segment AND r.depth <= l.up_to GROUP BY v.slug, l.up_to ORDER BY v.slug, l.up_to`),
  ]
}
